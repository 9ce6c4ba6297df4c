//! The events of Codex's output. The recorded runs are compared whole in `fixtures.rs`.

use std::io;

use agentbay_plugin_codex::Codex;
use agentbay_plugin_sdk::testing::{Capture, GROUPINGS, Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Category, Event, ExitStatus, KillReason, Level, NO_OUTPUT, Outcome, ToolCall, ToolResult, Usage, UsageScope,
    failed, finished, notice,
};

const HELLO: &str = "The scripted model says hello. This is a plain answer in one short paragraph.";

fn recorded(case: &str) -> io::Result<Capture> {
    Capture::read(format!("{}/../../fixtures/codex/{case}", env!("CARGO_MANIFEST_DIR")))
}

fn run(stdout: &str, exit: ExitStatus) -> Replay {
    replay::<Codex>(&turn("Say hello"), stdout, Grouping::Whole, exit)
}

fn unknown_model() -> Event {
    let message = "Model metadata for `gpt-scripted` not found. \
                   Defaulting to fallback metadata; this can degrade performance and cause issues.";
    notice(Level::Warning, message)
}

fn usage(requests: u64) -> Event {
    Event::Usage(Usage {
        scope: UsageScope::Thread,
        input: 1111 * requests,
        cached_input: 222 * requests,
        cache_write: 0,
        output: 333 * requests,
        reasoning: 44 * requests,
    })
}

#[test]
fn a_plain_run_gives_session_warning_text_usage_and_the_end() -> io::Result<()> {
    let events = vec![
        Event::Session("01a21eb9-01ec-7e92-bfb9-fd056ea14d53".into()),
        unknown_model(),
        Event::Text(HELLO.into()),
        usage(1),
        Event::Done(finished(None)),
    ];
    let actual = recorded("plain")?.replay::<Codex>(&turn("Say hello"), Grouping::Whole);
    assert_eq!(actual, Replay { events, outcome: finished(None) });
    Ok(())
}

#[test]
fn reasoning_is_separate_from_the_answer() -> io::Result<()> {
    let reasoning = "First I consider the request. Then I decide that a short answer is enough.";
    let events = vec![
        Event::Session("01a21eb9-26ff-7120-b6cb-7822b243d063".into()),
        unknown_model(),
        Event::Reasoning(reasoning.into()),
        Event::Text(HELLO.into()),
        usage(1),
        Event::Done(finished(None)),
    ];
    assert_eq!(recorded("reasoning")?.replay::<Codex>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn a_command_is_a_tool_call_and_its_result() -> io::Result<()> {
    let events = vec![
        Event::Session("01a21eb9-31b2-77e2-b34d-16947a733d58".into()),
        unknown_model(),
        Event::ToolCall(ToolCall {
            id: "item_1".into(),
            name: "command_execution".into(),
            input: r#"{"command":"/bin/bash -lc ls"}"#.into(),
        }),
        Event::ToolResult(ToolResult { id: "item_1".into(), output: "README.md\nsrc\n".into(), is_error: false }),
        Event::Text("Done. The tool returned 116 characters.".into()),
        usage(2),
        Event::Done(finished(None)),
    ];
    assert_eq!(recorded("tool")?.replay::<Codex>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn two_messages_are_parted() {
    let stdout = r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Let me look."}}
{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"Found it."}}"#;
    let events = vec![Event::Text("Let me look.".into()), Event::TextBreak, Event::Text("Found it.".into())];
    assert_eq!(run(stdout, ExitStatus::Code(0)).events, events);
}

#[test]
fn an_item_that_is_told_only_at_its_end_is_a_call_and_a_result() {
    let stdout = r#"{"type":"item.completed","item":{"id":"3","type":"file_change","status":"failed","changes":[{"path":"a"}]}}
{"type":"item.completed","item":{"id":"4","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"q":1},
"#;
    let events = vec![
        Event::ToolCall(ToolCall {
            id: "3".into(),
            name: "file_change".into(),
            input: r#"{"changes":[{"path":"a"}]}"#.into(),
        }),
        Event::ToolResult(ToolResult { id: "3".into(), output: String::new(), is_error: true }),
    ];
    assert_eq!(run(stdout, ExitStatus::Code(0)).events, events);
}

#[test]
fn the_result_of_an_mcp_tool_is_its_text_or_its_error() {
    let stdout = r#"{"type":"item.completed","item":{"id":"1","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"q":1},"result":{"content":[{"type":"text","text":"hit"}]},"status":"completed"}}
{"type":"item.completed","item":{"id":"2","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{},"error":{"message":"gone"},"status":"failed"}}"#;
    let call = |id: &str, input: &str| {
        Event::ToolCall(ToolCall { id: id.into(), name: "docs.find".into(), input: input.into() })
    };
    let events = vec![
        call("1", r#"{"q":1}"#),
        Event::ToolResult(ToolResult { id: "1".into(), output: "hit".into(), is_error: false }),
        call("2", "{}"),
        Event::ToolResult(ToolResult { id: "2".into(), output: "gone".into(), is_error: true }),
    ];
    assert_eq!(run(stdout, ExitStatus::Code(0)).events, events);
}

#[test]
fn an_error_event_is_progress_and_only_turn_failed_is_the_end() {
    let stdout = r#"{"type":"error","message":"Reconnecting... 1/5"}
{"type":"error","message":"no network"}
{"type":"turn.failed","error":{"message":"no network"}}"#;
    let failure = failed(Category::Unknown, "CLI failed", "no network");
    let events = vec![
        notice(Level::Warning, "Reconnecting... 1/5"),
        notice(Level::Warning, "no network"),
        Event::Done(failure.clone()),
    ];
    assert_eq!(run(stdout, ExitStatus::Code(1)), Replay { events, outcome: failure });
}

fn outcome(stdout: &str, exit: ExitStatus) -> Outcome {
    run(stdout, exit).outcome
}

#[test]
fn plain_text_without_an_event_is_read_by_the_plain_text_rule() {
    let stdout = "starting\n{\"level\":\"info\"}\n\nThe answer\n  in two lines.\n\n";
    for grouping in GROUPINGS {
        let actual = replay::<Codex>(&turn("x"), stdout, grouping, ExitStatus::Code(0));
        let outcome = finished(Some("The answer\n  in two lines.".into()));
        assert_eq!(actual, Replay { events: Vec::new(), outcome }, "{grouping:?}");
    }
}

#[test]
fn a_run_that_went_well_without_output_answers_so() {
    let answer = finished(Some(NO_OUTPUT.into()));
    assert_eq!(outcome("", ExitStatus::Code(0)), answer);
    assert_eq!(outcome("\n \n", ExitStatus::Code(0)), answer);
}

#[test]
fn events_without_an_end_are_a_failure() {
    let stdout = r#"{"type":"thread.started","thread_id":"t"}"#;
    let failure = failed(Category::Unknown, "Codex ended before it had finished its turn", "");
    assert_eq!(outcome(stdout, ExitStatus::Code(0)), failure);
}

#[test]
fn another_exit_code_is_a_failure_with_what_codex_said_last() {
    assert_eq!(outcome("some text", ExitStatus::Code(2)), failed(Category::Unknown, "CLI failed", "some text"));
    assert_eq!(outcome("", ExitStatus::Signal(9)), failed(Category::Unknown, "CLI failed", ""));
    let stdout = r#"{"type":"error","message":"no network"}"#;
    assert_eq!(outcome(stdout, ExitStatus::Code(1)), failed(Category::Unknown, "CLI failed", "no network"));
}

#[test]
fn a_killed_run_is_a_timeout_only_if_time_was_the_reason() {
    let cases = [
        (KillReason::Cancelled, Category::Unknown, "The run was cancelled"),
        (KillReason::Timeout, Category::Timeout, "The CLI ran for longer than it may and was stopped"),
        (KillReason::Idle, Category::Timeout, "The CLI said nothing for longer than it may and was stopped"),
        (KillReason::OutputLimit, Category::Unknown, "The CLI printed more than it may and was stopped"),
        (KillReason::Shutdown, Category::Unknown, "The run was stopped because AgentBay is shutting down"),
    ];
    for (reason, category, message) in cases {
        assert_eq!(outcome("text", ExitStatus::Killed(reason)), failed(category, message, "text"));
    }
}

#[test]
fn unknown_json_is_skipped_among_events() {
    let stdout = r#"{"type":"thread.started"}
{"type":"thread.started","thread_id":[7]}
{"type":"item.completed"}
{"type":"item.completed","item":[]}
{"type":"item.started","item":{"type":"command_execution"}}
{"type":"item.completed","item":{"type":"todo_list","items":[]}}
{"type":"something.new","x":{}}
{"type":["turn.completed"]}
[1,2]

nonsense"#;
    let call = ToolCall { id: String::new(), name: "command_execution".into(), input: r#"{"command":null}"#.into() };
    let events = vec![
        Event::ToolCall(call),
        notice(Level::Debug, "not an event: [1,2]"),
        notice(Level::Debug, "not an event: nonsense"),
    ];
    assert_eq!(run(stdout, ExitStatus::Code(0)).events, events);
}
