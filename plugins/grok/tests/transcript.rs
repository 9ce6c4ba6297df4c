//! What is made of the output of `ax-grok`. Recorded was grok-cli, the program it comes from.

use std::{fs, io};

use agentbay_plugin_grok::Grok;
use agentbay_plugin_sdk::testing::{Capture, Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Agent, Category, Event, ExitStatus, NO_OUTPUT, StreamName, ToolCall, ToolResult, Transcript, failed, finished,
};

const HELLO: &str = "The scripted model says hello. This is a plain answer in one short paragraph.";
const ERROR: &str = r#"{"role":"assistant","content":"Sorry, I encountered an error: socket hang up"}"#;

fn folder(case: &str) -> String {
    format!("{}/../../fixtures/grok/{case}", env!("CARGO_MANIFEST_DIR"))
}

fn recorded(case: &str) -> io::Result<Replay> {
    Ok(Capture::read(folder(case))?.replay::<Grok>(&turn("Say hello"), Grouping::Whole))
}

fn run(stdout: &str) -> Replay {
    replay::<Grok>(&turn("Say hello"), stdout, Grouping::Whole, ExitStatus::Code(0))
}

#[test]
fn the_assistants_message_is_the_answer() -> io::Result<()> {
    let events = vec![Event::Text(HELLO.into())];
    assert_eq!(recorded("plain")?, Replay { events, outcome: finished(None) });
    Ok(())
}

#[test]
fn a_placeholder_for_a_message_is_not_part_of_the_answer() -> io::Result<()> {
    let id = "call_scripted000002";
    let events = vec![
        Event::ToolCall(ToolCall { id: id.into(), name: "bash".into(), input: r#"{"command": "ls"}"#.into() }),
        Event::ToolResult(ToolResult { id: id.into(), output: "README.md\nsrc".into(), is_error: false }),
        Event::Text("Done. The tool returned 13 characters.".into()),
    ];
    assert_eq!(recorded("tool")?, Replay { events, outcome: finished(None) });
    Ok(())
}

#[test]
fn an_error_printed_as_an_answer_with_exit_code_0_is_a_failure() -> io::Result<()> {
    let message = "The CLI is not logged in, or its credentials were refused. \
                   To log in: set XAI_API_KEY, or run `ax-grok setup`";
    let detail = "Grok API error: 401 Incorrect API key provided: scripted.";
    let outcome = failed(Category::Authentication, message, detail);
    assert_eq!(recorded("auth401")?, Replay { events: vec![], outcome });

    let message = "The provider failed to answer the request";
    let detail = "Grok API error: 500 The scripted server had an error while processing your request.";
    assert_eq!(recorded("error500")?, Replay { events: vec![], outcome: failed(Category::Server, message, detail) });
    Ok(())
}

#[test]
fn an_answer_about_an_error_is_an_answer() {
    let quoted = r#"{"role":"assistant","content":"It prints: Sorry, I encountered an error: 401"}"#;
    let events = vec![Event::Text("It prints: Sorry, I encountered an error: 401".into())];
    assert_eq!(run(quoted), Replay { events, outcome: finished(None) });
}

#[test]
fn a_message_like_an_error_is_one_only_if_nothing_follows() {
    let events = vec![
        Event::Text("Sorry, I encountered an error: socket hang up".into()),
        Event::TextBreak,
        Event::Text("done".into()),
    ];
    let stdout = format!("{ERROR}\n{{\"role\":\"assistant\",\"content\":\"done\"}}");
    assert_eq!(run(&stdout), Replay { events, outcome: finished(None) });
    let message = "The CLI could not reach its provider, or lost the connection";
    assert_eq!(run(ERROR), Replay { events: vec![], outcome: failed(Category::Network, message, "socket hang up") });
}

#[test]
fn a_missing_key_is_reported_with_login_instructions() -> io::Result<()> {
    let mut transcript = <Grok as Agent>::Transcript::new(&turn("x"));
    transcript.output(StreamName::Stderr, fs::read_to_string(format!("{}/stderr", folder("nocreds")))?.trim_end());
    let failure = transcript.exit(ExitStatus::Code(1)).failure.map(|failure| (failure.category, failure.message));
    let message = "The CLI is not logged in, or its credentials were refused. \
                   To log in: set XAI_API_KEY, or run `ax-grok setup`";
    assert_eq!(failure, Some((Category::Authentication, message.to_owned())));
    Ok(())
}

#[test]
fn a_run_that_ends_after_a_call_is_a_failure_and_one_without_output_is_not() {
    let call = r#"{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"bash"}}]}"#;
    let message = "Grok ended before it had finished its turn";
    assert_eq!(run(call).outcome, failed(Category::Unknown, message, ""));
    assert_eq!(run("").outcome, finished(Some(NO_OUTPUT.into())));
}
