//! What is made of Qwen Code's output. The Claude-like events themselves are tested with the SDK.

use std::io;

use agentbay_plugin_qwen::Qwen;
use agentbay_plugin_sdk::testing::{Capture, GROUPINGS, Grouping, Replay, damaged, replay, turn};
use agentbay_plugin_sdk::{
    Category, Event, ExitStatus, NO_OUTPUT, ToolCall, ToolResult, Usage, UsageScope, failed, finished,
};

const HELLO: &str = "The scripted model says hello. This is a plain answer in one short paragraph.";
const CASES: [&str; 6] = ["plain", "markdown", "reasoning", "tool", "plain-whole", "tool-whole"];

fn recorded(case: &str) -> io::Result<Capture> {
    Capture::read(format!("{}/../../fixtures/qwen/{case}", env!("CARGO_MANIFEST_DIR")))
}

fn run(stdout: &str, exit: ExitStatus) -> Replay {
    replay::<Qwen>(&turn("Say hello"), stdout, Grouping::Whole, exit)
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

/// Two requests in each case: without a tool the second is Qwen Code's own, for its memory.
fn end(answer: &str) -> [Event; 2] {
    let usage =
        Usage { scope: UsageScope::Run, input: 2222, cached_input: 444, cache_write: 0, output: 666, reasoning: 0 };
    [Event::Usage(usage), Event::Done(finished(Some(answer.into())))]
}

fn hello_in_deltas() -> [Event; 5] {
    ["The scripted model ", "says hello. This ", "is a plain ", "answer in one ", "short paragraph."].map(text)
}

#[test]
fn a_plain_run_gives_its_deltas_once() -> io::Result<()> {
    let mut events = vec![Event::Session("78030bd6-0501-4f4c-9bf9-3b0919299efa".into())];
    events.extend(hello_in_deltas());
    events.extend(end(HELLO));
    let told = recorded("plain")?.replay::<Qwen>(&turn("Say hello"), Grouping::Whole);
    assert_eq!(told, Replay { events, outcome: finished(Some(HELLO.into())) });
    Ok(())
}

#[test]
fn without_deltas_the_whole_message_is_the_text() -> io::Result<()> {
    let mut events = vec![Event::Session("0a453de4-a3b3-4b22-926c-7f5afe8e83c6".into()), text(HELLO)];
    events.extend(end(HELLO));
    assert_eq!(recorded("plain-whole")?.replay::<Qwen>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn reasoning_is_told_once_and_apart_from_the_answer() -> io::Result<()> {
    let mut events = vec![Event::Session("951a5f62-87f3-420f-aed6-dc20ddda6ca4".into())];
    let deltas = ["First I consider ", "the request. Then ", "I decide that ", "a short answer ", "is enough."];
    events.extend(deltas.map(|delta| Event::Reasoning(delta.into())));
    events.extend(hello_in_deltas());
    events.extend(end(HELLO));
    let told = recorded("reasoning")?.replay::<Qwen>(&turn("x"), Grouping::Whole);
    assert_eq!(told.events, events);
    Ok(())
}

#[test]
fn a_tool_is_a_call_and_a_result_with_and_without_deltas() -> io::Result<()> {
    let cases = [
        ("tool", "e4245b05-1160-4339-9a88-fa8fe5c0db3a", vec!["Done. The tool ", "returned 120 characters."]),
        ("tool-whole", "9f7cb39e-652e-44f5-a32b-46a5fa355419", vec!["Done. The tool returned 120 characters."]),
    ];
    for (case, session, texts) in cases {
        let id = "call_scripted000002";
        let mut events = vec![
            Event::Session(session.into()),
            Event::ToolCall(ToolCall {
                id: id.into(),
                name: "run_shell_command".into(),
                input: r#"{"command":"ls"}"#.into(),
            }),
            Event::ToolResult(ToolResult { id: id.into(), output: "README.md\nsrc".into(), is_error: false }),
        ];
        events.extend(texts.into_iter().map(text));
        events.extend(end("Done. The tool returned 120 characters."));
        assert_eq!(recorded(case)?.replay::<Qwen>(&turn("x"), Grouping::Whole).events, events, "{case}");
    }
    Ok(())
}

#[test]
fn the_texts_together_are_the_answer_that_the_result_repeats() -> io::Result<()> {
    for case in CASES {
        let told = recorded(case)?.replay::<Qwen>(&turn("x"), Grouping::Whole);
        assert_eq!(Some(told.answer()), told.outcome.answer, "{case}");
    }
    Ok(())
}

#[test]
fn any_grouping_of_lines_gives_the_same() -> io::Result<()> {
    for case in CASES {
        let capture = recorded(case)?;
        let whole = capture.replay::<Qwen>(&turn("x"), Grouping::Whole);
        for grouping in GROUPINGS {
            assert_eq!(capture.replay::<Qwen>(&turn("x"), grouping), whole, "{case}, {grouping:?}");
        }
    }
    Ok(())
}

#[test]
fn a_result_with_an_error_is_a_failure() {
    let stdout = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 401]"}}"#;
    let failure = failed(Category::Unknown, "CLI failed", "[API Error: 401]");
    let events = vec![Event::Done(failure.clone())];
    assert_eq!(run(stdout, ExitStatus::Code(1)), Replay { events, outcome: failure });
}

#[test]
fn plain_text_without_an_event_is_read_by_the_plain_text_rule() {
    for grouping in GROUPINGS {
        let told = replay::<Qwen>(&turn("x"), "log\n\nHello\nthere\n", grouping, ExitStatus::Code(0));
        let outcome = finished(Some("Hello\nthere".into()));
        assert_eq!(told, Replay { events: Vec::new(), outcome }, "{grouping:?}");
    }
}

#[test]
fn a_run_without_a_result_is_a_failure() {
    assert_eq!(run("", ExitStatus::Code(0)).outcome, failed(Category::Unknown, NO_OUTPUT, ""));
    assert_eq!(run("", ExitStatus::Code(1)).outcome, failed(Category::Unknown, "CLI failed", ""));
    let message = "Qwen Code ended before it had finished its turn";
    let init = r#"{"type":"system","subtype":"init"}"#;
    assert_eq!(run(init, ExitStatus::Code(0)).outcome, failed(Category::Unknown, message, ""));
}

#[test]
fn damaged_output_is_no_panic_and_after_an_event_only_the_end_is_a_success() -> io::Result<()> {
    for case in CASES {
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
