//! What is made of Gemini CLI's output.

use std::io;

use agentbay_plugin_gemini::Gemini;
use agentbay_plugin_sdk::testing::{Capture, GROUPINGS, Grouping, Replay, damaged, replay, turn};
use agentbay_plugin_sdk::{
    Category, Event, ExitStatus, Level, NO_OUTPUT, ToolCall, ToolResult, Usage, UsageScope, failed, finished, notice,
};

fn recorded(case: &str) -> io::Result<Capture> {
    Capture::read(format!("{}/../../fixtures/gemini/{case}", env!("CARGO_MANIFEST_DIR")))
}

fn run(stdout: &str, exit: ExitStatus) -> Replay {
    replay::<Gemini>(&turn("Say hello"), stdout, Grouping::Whole, exit)
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

/// The model's requests and the one of the router are counted together; thoughts are part of the output.
fn usage(requests: u64) -> Event {
    Event::Usage(Usage {
        scope: UsageScope::Run,
        input: 1111 * requests,
        cached_input: 222 * requests,
        cache_write: 0,
        output: (333 + 44) * requests,
        reasoning: 44 * requests,
    })
}

#[test]
fn a_plain_run_gives_its_deltas_and_not_the_echo_of_the_prompt() -> io::Result<()> {
    for (case, session) in [
        ("plain", "a2b91c42-9209-425b-aad7-cbc0487093bc"),
        // Thoughts are counted, not shown.
        ("reasoning", "79667e94-9e5f-44a2-b022-07c527411bff"),
    ] {
        let events = vec![
            Event::Session(session.into()),
            text("The scripted model "),
            text("says hello. This "),
            text("is a plain "),
            text("answer in one "),
            text("short paragraph."),
            usage(2),
            Event::Done(finished(None)),
        ];
        let told = recorded(case)?.replay::<Gemini>(&turn("Say hello"), Grouping::Whole);
        assert_eq!(told, Replay { events, outcome: finished(None) }, "{case}");
    }
    Ok(())
}

#[test]
fn a_tool_is_a_call_and_a_result() -> io::Result<()> {
    let id = "run_shell_command__run_shell_command_1795812109369_0";
    let events = vec![
        Event::Session("65c41875-3f6a-4d53-bc25-7fbfba3316d8".into()),
        Event::ToolCall(ToolCall {
            id: id.into(),
            name: "run_shell_command".into(),
            input: r#"{"command":"ls"}"#.into(),
        }),
        Event::ToolResult(ToolResult { id: id.into(), output: "README.md\nsrc".into(), is_error: false }),
        text("Done. The tool "),
        text("returned 103 characters."),
        usage(3),
        Event::Done(finished(None)),
    ];
    assert_eq!(recorded("tool")?.replay::<Gemini>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn markdown_arrives_as_the_model_wrote_it() -> io::Result<()> {
    let answer = recorded("markdown")?.replay::<Gemini>(&turn("x"), Grouping::Whole).answer();
    assert!(answer.starts_with("# Scripted report\n\nA first paragraph with *emphasis*"), "{answer}");
    assert!(
        answer.contains("日本語のテキスト, русский, עברית, emoji 🚀 and a joined one 👩‍💻.\n\n```rust\n"),
        "{answer}"
    );
    assert!(answer.ends_with("Last line after two blank lines, with trailing spaces.  \n"), "{answer}");
    Ok(())
}

#[test]
fn any_grouping_of_lines_gives_the_same() -> io::Result<()> {
    for case in ["plain", "markdown", "reasoning", "tool"] {
        let capture = recorded(case)?;
        let whole = capture.replay::<Gemini>(&turn("x"), Grouping::Whole);
        for grouping in GROUPINGS {
            assert_eq!(capture.replay::<Gemini>(&turn("x"), grouping), whole, "{case}, {grouping:?}");
        }
    }
    Ok(())
}

#[test]
fn text_after_a_tool_call_is_a_new_message() {
    let stdout = r#"{"type":"message","role":"assistant","content":"Let me ","delta":true}
{"type":"message","role":"assistant","content":"look.","delta":true}
{"type":"tool_use","tool_name":"glob","tool_id":"1","parameters":{}}
{"type":"tool_result","tool_id":"1","status":"error","error":{"type":"x","message":"no such folder"}}
{"type":"message","role":"assistant","content":"Found ","delta":true}
{"type":"message","role":"assistant","content":"it.","delta":true}"#;
    let events = vec![
        text("Let me "),
        text("look."),
        Event::ToolCall(ToolCall { id: "1".into(), name: "glob".into(), input: "{}".into() }),
        Event::ToolResult(ToolResult { id: "1".into(), output: "no such folder".into(), is_error: true }),
        Event::TextBreak,
        text("Found "),
        text("it."),
    ];
    assert_eq!(run(stdout, ExitStatus::Code(0)).events, events);
}

#[test]
fn an_error_event_is_a_remark_and_the_result_is_the_verdict() {
    let loop_found = r#"{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}"#;
    let remark = notice(Level::Warning, "Loop detected, stopping execution");

    let stdout = format!("{loop_found}\n{}", r#"{"type":"result","status":"success"}"#);
    let events = vec![remark.clone(), Event::Done(finished(None))];
    assert_eq!(run(&stdout, ExitStatus::Code(0)), Replay { events, outcome: finished(None) });

    let stdout =
        format!("{loop_found}\n{}", r#"{"type":"result","status":"error","error":{"message":"[API Error: 401]"}}"#);
    let failure = failed(Category::Unknown, "CLI failed", "[API Error: 401]");
    let events = vec![remark, Event::Done(failure.clone())];
    assert_eq!(run(&stdout, ExitStatus::Code(145)), Replay { events, outcome: failure });
}

#[test]
fn plain_text_without_an_event_is_read_by_the_plain_text_rule() {
    for grouping in GROUPINGS {
        let told = replay::<Gemini>(&turn("x"), "log\n\nHello\nthere\n", grouping, ExitStatus::Code(0));
        let outcome = finished(Some("Hello\nthere".into()));
        assert_eq!(told, Replay { events: Vec::new(), outcome }, "{grouping:?}");
    }
}

#[test]
fn a_run_without_a_result_is_a_failure() {
    assert_eq!(run("", ExitStatus::Code(0)).outcome, failed(Category::Unknown, NO_OUTPUT, ""));
    assert_eq!(run("", ExitStatus::Code(42)).outcome, failed(Category::Unknown, "CLI failed", ""));
    let message = "Gemini CLI ended before it had finished its turn";
    let init = r#"{"type":"init","session_id":"s"}"#;
    assert_eq!(run(init, ExitStatus::Code(0)).outcome, failed(Category::Unknown, message, ""));
}

#[test]
fn json_that_is_not_understood_is_skipped_among_events() {
    let stdout = r#"{"type":"init"}
{"type":"message"}
{"type":"message","role":"assistant","content":{"parts":[]}}
{"type":"tool_result"}
{"type":"later"}
{"type":"result","status":"success","stats":[]}
[]"#;
    let events = vec![
        Event::ToolResult(ToolResult { id: String::new(), output: String::new(), is_error: true }),
        Event::Done(finished(None)),
        notice(Level::Debug, "not an event: []"),
    ];
    assert_eq!(run(stdout, ExitStatus::Code(0)).events, events);
}

#[test]
fn damaged_output_is_no_panic_and_after_an_event_only_the_end_is_a_success() -> io::Result<()> {
    for case in ["plain", "markdown", "reasoning", "tool"] {
        let capture = recorded(case)?;
        for stdout in damaged(&capture.stdout) {
            let told = run(&stdout, ExitStatus::Code(0));
            if told.events.is_empty() {
                // Without a single event it is plain text.
                continue;
            }
            let has_end = told.events.iter().any(|event| matches!(event, Event::Done(_)));
            assert_eq!(told.outcome.failure.is_none(), has_end, "{case}: {stdout}");
        }
    }
    Ok(())
}
