//! The events of Gemini CLI's output. The recorded runs are compared whole in `fixtures.rs`.

use std::io;

use agentbay_plugin_gemini::Gemini;
use agentbay_plugin_sdk::testing::{Capture, GROUPINGS, Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Agent, Category, Event, ExitStatus, Level, NO_OUTPUT, Outcome, Stop, StreamName, ToolCall, ToolResult, Transcript,
    Usage, UsageScope, failed, finished, notice,
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
        let actual = recorded(case)?.replay::<Gemini>(&turn("Say hello"), Grouping::Whole);
        assert_eq!(actual, Replay { events, outcome: finished(None) }, "{case}");
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
fn an_error_event_is_a_notice_and_the_result_determines_the_outcome() {
    let skipped = r#"{"type":"error","severity":"warning","message":"loop check skipped"}"#;
    let remark = notice(Level::Warning, "loop check skipped");

    let stdout = format!("{skipped}\n{}", r#"{"type":"result","status":"success"}"#);
    let events = vec![remark.clone(), Event::Done(finished(None))];
    assert_eq!(run(&stdout, ExitStatus::Code(0)), Replay { events, outcome: finished(None) });

    let stdout =
        format!("{skipped}\n{}", r#"{"type":"result","status":"error","error":{"message":"[API Error: oh]"}}"#);
    let failure = failed(Category::Unknown, "CLI failed", "[API Error: oh]");
    let events = vec![remark, Event::Done(failure.clone())];
    assert_eq!(run(&stdout, ExitStatus::Code(1)), Replay { events, outcome: failure });
}

#[test]
fn an_answer_that_the_cli_stopped_as_a_loop_is_incomplete() {
    let end = r#"{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}
{"type":"result","status":"success"}"#;
    let outcome = Outcome { stop: Stop::MaxTurns, ..finished(None) };
    let events = vec![
        Event::Text("So".into()),
        notice(Level::Warning, "Loop detected, stopping execution"),
        Event::Done(outcome.clone()),
    ];
    let stdout = format!("{}\n{end}", r#"{"type":"message","role":"assistant","content":"So","delta":true}"#);
    assert_eq!(run(&stdout, ExitStatus::Code(0)), Replay { events, outcome });
    assert!(run(end, ExitStatus::Code(0)).outcome.failure.is_some(), "without a text there is no answer");
}

fn attempts(lines: &str) -> Vec<Event> {
    <Gemini as Agent>::Transcript::new(&turn("x")).output(StreamName::Stderr, lines)
}

#[test]
fn the_third_failed_attempt_ends_the_run_and_an_exhausted_quota_the_first_time() {
    let attempt = |number: u32| {
        format!(
            "Attempt {number} failed with status 500. Retrying with backoff... _ApiError: {{\"error\":{{\"code\":500}}}}"
        )
    };
    let remark = |number: u32| {
        notice(Level::Warning, format!("attempt {number} failed: The provider failed to answer the request"))
    };
    let failure = failed(
        Category::Server,
        "The provider failed to answer the request",
        r#"with status 500. Retrying with backoff... _ApiError: {"error":{"code":500}}"#,
    );
    let lines = [attempt(1), attempt(2), "    at somewhere".into(), attempt(3), attempt(4)].join("\n");
    assert_eq!(attempts(&lines), [remark(1), remark(2), remark(3), Event::Done(failure), remark(4)]);

    let spent = "Attempt 1 failed: You have exhausted your daily quota on this model.";
    let message = "The usage limit of the account is reached";
    let failure = failed(Category::Quota, message, "You have exhausted your daily quota on this model.");
    assert_eq!(attempts(spent), [notice(Level::Warning, format!("attempt 1 failed: {message}")), Event::Done(failure)]);
}

#[test]
fn an_exit_code_of_gemini_cli_determines_the_category() {
    let login = "Gemini CLI is not logged in. \
                 To log in: run `gemini` once and choose how to log in, or set GEMINI_API_KEY";
    let cases = [
        (41, Category::Authentication, login),
        (42, Category::Validation, "Gemini CLI does not take what it was asked"),
        (55, Category::Configuration, "Gemini CLI does not trust the folder it was started in"),
        (1, Category::Unknown, "CLI failed"),
    ];
    for (code, category, message) in cases {
        assert_eq!(run("", ExitStatus::Code(code)).outcome, failed(category, message, ""), "{code}");
    }
}

#[test]
fn a_prompt_does_not_become_a_command() {
    let input = |prompt: &str| {
        let turn = turn(prompt);
        <Gemini as Agent>::Transcript::new(&turn).begin(&turn)
    };
    assert_eq!(input("/init now"), [Event::Reply(" /init now".into()), Event::EndInput]);
    assert_eq!(input("- a\n/b"), [Event::Reply("- a\n/b".into()), Event::EndInput]);
}

#[test]
fn plain_text_without_an_event_is_read_by_the_plain_text_rule() {
    for grouping in GROUPINGS {
        let actual = replay::<Gemini>(&turn("x"), "log\n\nHello\nthere\n", grouping, ExitStatus::Code(0));
        let outcome = finished(Some("Hello\nthere".into()));
        assert_eq!(actual, Replay { events: Vec::new(), outcome }, "{grouping:?}");
    }
}

#[test]
fn a_run_without_a_result_is_a_failure_unless_nothing_was_printed() {
    assert_eq!(run("", ExitStatus::Code(0)).outcome, finished(Some(NO_OUTPUT.into())));
    assert_eq!(run("", ExitStatus::Code(1)).outcome, failed(Category::Unknown, "CLI failed", ""));
    let message = "Gemini CLI ended before it had finished its turn";
    let init = r#"{"type":"init","session_id":"s"}"#;
    assert_eq!(run(init, ExitStatus::Code(0)).outcome, failed(Category::Unknown, message, ""));
}

#[test]
fn unknown_json_is_skipped_among_events() {
    let stdout = r#"{"type":"init"}
{"type":"message"}
{"type":"message","role":"assistant","content":{"parts":[]}}
{"type":"tool_result"}
{"type":"later"}
{"type":"result","status":"success","stats":[]}
[]"#;
    let events = vec![
        Event::ToolResult(ToolResult { id: String::new(), output: String::new(), is_error: true }),
        // One of these may have been the answer.
        Event::Done(failed(Category::Unknown, "Gemini CLI sent its answer in an unknown format: `content`", "")),
    ];
    assert_eq!(run(stdout, ExitStatus::Code(0)).events, events);
}
