//! How opencode's log is read, seen from outside.

use agentbay_plugin_opencode::Opencode;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Event, Level, StreamName, Transcript, notice};

fn read(lines: &str) -> Vec<Event> {
    <Opencode as Agent>::Transcript::new(&turn("x")).output(StreamName::Stderr, lines)
}

#[test]
fn quotes_and_escapes_in_a_value_are_removed() {
    let line = r#"level=ERROR message=failed cause="a b=\"c\" error=no" error="said \"x\"\n y" ref=1"#;
    assert_eq!(read(line), vec![notice(Level::Warning, "said \"x\"\n y")]);
}

#[test]
fn lines_that_are_not_log_lines_are_skipped() {
    for line in ["", "=", "message", "message=", "message=\"", "message=\"failed\\", "Error: Session not found", "==="]
    {
        assert_eq!(read(line), vec![], "{line}");
    }
}

#[test]
fn errors_of_the_title_and_of_other_sessions_are_skipped() {
    let mut transcript = <Opencode as Agent>::Transcript::new(&turn("x"));
    transcript.output(StreamName::Stdout, r#"{"type":"step_start","sessionID":"ses_a"}"#);
    let lines = concat!(
        "message=\"stream error\" session.id=ses_a small=true error.error=\"title\"\n",
        "message=\"stream error\" session.id=ses_b small=false error.error=\"helper\"\n",
        "message=\"stream error\" session.id=ses_a small=false error.error=\"own\"",
    );
    assert_eq!(transcript.output(StreamName::Stderr, lines), vec![notice(Level::Warning, "own")]);
}
