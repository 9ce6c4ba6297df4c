//! The events of Copilot's output.

use std::{fs, io};

use agentbay_plugin_copilot::Copilot;
use agentbay_plugin_sdk::testing::{Capture, Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Agent, Category, Event, ExitStatus, KillReason, Level, Outcome, StreamName, ToolCall, ToolResult, Transcript, Turn,
    classify, failed, finished, notice,
};

const HELLO: [&str; 5] =
    ["The scripted model ", "says hello. This ", "is a plain ", "answer in one ", "short paragraph."];

fn folder(case: &str) -> String {
    format!("{}/../../fixtures/copilot/{case}", env!("CARGO_MANIFEST_DIR"))
}

fn recorded(case: &str) -> io::Result<Capture> {
    Capture::read(folder(case))
}

fn run(stdout: &str, code: i32) -> Replay {
    replay::<Copilot>(&turn("Say hello"), stdout, Grouping::Whole, ExitStatus::Code(code))
}

/// The verdict on a run that printed only this, on standard error.
fn stderr_only(case: &str) -> io::Result<Outcome> {
    let mut transcript = <Copilot as Agent>::Transcript::new(&turn("x"));
    transcript.output(StreamName::Stderr, fs::read_to_string(format!("{}/stderr", folder(case)))?.trim_end());
    Ok(transcript.exit(ExitStatus::Code(1)))
}

fn texts<const N: usize>(pieces: [&str; N]) -> impl Iterator<Item = Event> {
    pieces.map(|piece| Event::Text(piece.into())).into_iter()
}

fn call(id: &str, input: &str) -> Event {
    Event::ToolCall(ToolCall { id: id.into(), name: "bash".into(), input: input.into() })
}

fn result(id: &str, output: &str, is_error: bool) -> Event {
    Event::ToolResult(ToolResult { id: id.into(), output: output.into(), is_error })
}

fn end(session: &str) -> [Event; 2] {
    [Event::Session(session.into()), Event::Done(finished(None))]
}

#[test]
fn a_plain_run_gives_the_deltas_once_and_the_session_at_the_end() -> io::Result<()> {
    let events = texts(HELLO).chain(end("7814cd06-d144-41aa-8a89-1c1817749eee")).collect();
    let actual = recorded("plain")?.replay::<Copilot>(&turn("Say hello"), Grouping::Whole);
    assert_eq!(actual, Replay { events, outcome: finished(None) });
    Ok(())
}

#[test]
fn a_session_that_was_asked_for_is_told_with_the_first_event_and_again_only_if_it_is_another() -> io::Result<()> {
    let actual = "7814cd06-d144-41aa-8a89-1c1817749eee";
    let other = "0199f0b2-6d1c-7cc3-a02f-9e3d5c1f2b7a";
    let session = |id: &str| Event::Session(id.into());
    let sessions = |turn: &Turn| -> io::Result<(Vec<Event>, bool)> {
        let mut events = recorded("plain")?.replay::<Copilot>(turn, Grouping::Whole).events;
        let is_first = matches!(events.first(), Some(Event::Session(_)));
        events.retain(|event| matches!(event, Event::Session(_)));
        Ok((events, is_first))
    };
    let run = |id: &str| Turn { run_dir: format!("/run/{id}"), ..turn("x") };
    assert_eq!(sessions(&run(actual))?, (vec![session(actual)], true));
    assert_eq!(sessions(&run(other))?, (vec![session(other), session(actual)], true));
    let resumed = |id: &str| Turn { session: Some(id.into()), ..run(other) };
    assert_eq!(sessions(&resumed(actual))?, (vec![session(actual)], true));
    assert_eq!(sessions(&resumed("a name"))?, (vec![session(actual)], false));
    Ok(())
}

#[test]
fn reasoning_is_emitted_once_and_separately_from_the_answer() -> io::Result<()> {
    let reasoning = ["First I consider ", "the request. Then ", "I decide that ", "a short answer ", "is enough."];
    let reasoning = reasoning.map(|piece| Event::Reasoning(piece.into())).into_iter();
    let events: Vec<Event> = reasoning.chain(texts(HELLO)).chain(end("f3a59623-539d-4702-b44f-b39460164612")).collect();
    assert_eq!(recorded("reasoning")?.replay::<Copilot>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn a_command_is_a_tool_call_between_two_messages() -> io::Result<()> {
    let id = "call_scripted000002";
    let output = "README.md\nsrc\n<shellId: 0 completed with exit code 0>";
    let mut events: Vec<Event> = texts(["Let me look ", "at the files ", "first."]).collect();
    events.push(call(id, r#"{"command":"ls","description":"Scripted step"}"#));
    events.extend([result(id, output, false), Event::TextBreak]);
    events.extend(texts(["Done. The tool ", "returned 53 characters."]));
    events.extend(end("5b4bf871-4aa0-4a63-9b8b-9568eef71b71"));
    assert_eq!(recorded("texttool")?.replay::<Copilot>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn a_call_that_is_denied_is_a_failed_call() -> io::Result<()> {
    let id = "call_scripted000002";
    let command = r#"{"command":"echo written by the script > scripted.txt","description":"Scripted step"}"#;
    let denial = "Permission to run this tool was denied due to the following rules: `shell`";
    let mut events = vec![call(id, command), result(id, denial, true)];
    events.extend(texts(["Done. The tool ", "returned 74 characters."]));
    events.extend(end("eb5da303-c3f9-4f65-9c7d-29d9be5353f8"));
    assert_eq!(recorded("toolwrite-readonly")?.replay::<Copilot>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn a_message_that_breaks_off_and_is_told_again_is_given_once() -> io::Result<()> {
    let actual = recorded("cut")?.replay::<Copilot>(&turn("x"), Grouping::Whole);
    assert_eq!(actual.answer(), "The scripted model says hello. This ");
    let detail = "Failed to get response from the AI model; retried 5 times (total retry wait time: 5.00 seconds) \
                  Last error: Failed native model HTTP request: error decoding response body: \
                  error reading a body from connection: unexpected EOF during chunk size line";
    let failure = actual.outcome.failure.map(|failure| failure.detail);
    assert_eq!(failure.as_deref(), Some(detail));
    Ok(())
}

#[test]
fn an_error_of_the_session_is_the_failure() -> io::Result<()> {
    let prefix = "Failed to get response from the AI model; retried 5 times (total retry wait time: ";
    let cases = [
        (
            "auth401",
            Category::Authentication,
            "The CLI is not logged in, or its credentials were refused. To log in: copilot login",
            "Authentication failed with provider at http://127.0.0.1:4010/v1 (HTTP 401).\n  Check your \
             COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN."
                .to_owned(),
        ),
        (
            "error500",
            Category::Server,
            "The provider failed to answer the request",
            format!(
                "{prefix}15.51 seconds) Last error: 500 The scripted server had an error while processing your request."
            ),
        ),
        (
            "empty",
            Category::Unknown,
            "CLI failed",
            "No response was returned. Send your message again to retry.".to_owned(),
        ),
    ];
    for (case, category, message, detail) in cases {
        let actual = recorded(case)?.replay::<Copilot>(&turn("x"), Grouping::Whole);
        assert_eq!(actual.outcome, failed(category, message, detail), "{case}");
    }
    let limit = recorded("rate429")?.replay::<Copilot>(&turn("x"), Grouping::Whole).outcome;
    assert_eq!(limit.failure.map(|failure| failure.category), Some(Category::RateLimit));
    Ok(())
}

#[test]
fn a_spent_allowance_is_told_at_once_and_once_while_copilot_would_go_on_asking() -> io::Result<()> {
    let message = r#"{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}"#;
    let warning = notice(Level::Warning, message);
    let outcome = failed(Category::Quota, "The usage limit of the account is reached", message);
    let events = vec![warning.clone(), Event::Done(outcome), warning.clone(), warning];
    let stdout = fs::read_to_string(format!("{}/stdout", folder("quota429")))?;
    let killed = ExitStatus::Killed(KillReason::Timeout);
    assert_eq!(replay::<Copilot>(&turn("x"), &stdout, Grouping::Whole, killed).events, events);
    Ok(())
}

#[test]
fn without_a_login_the_message_says_how_to_log_in() -> io::Result<()> {
    let failure = stderr_only("nocreds")?.failure.map(|failure| (failure.category, failure.message));
    let message = "The CLI is not logged in, or its credentials were refused. To log in: copilot login";
    assert_eq!(failure, Some((Category::Authentication, message.to_owned())));
    Ok(())
}

#[test]
fn a_session_that_does_not_exist_is_not_found() -> io::Result<()> {
    let failure = stderr_only("resume-unknown")?.failure.map(|failure| failure.category);
    assert_eq!(failure, Some(Category::NotFound));
    Ok(())
}

#[test]
fn without_deltas_the_whole_message_and_reasoning_are_taken() {
    let stdout = concat!(
        r#"{"type":"assistant.message","data":{"messageId":"1","content":"one"}}"#,
        "\n",
        r#"{"type":"assistant.reasoning","data":{"content":"because"}}"#,
        "\n",
        r#"{"type":"assistant.message","data":{"messageId":"2","content":"two"}}"#,
        "\n",
        r#"{"type":"result","exitCode":0}"#,
    );
    let events = vec![
        Event::Text("one".into()),
        Event::Reasoning("because".into()),
        Event::TextBreak,
        Event::Text("two".into()),
        Event::Done(finished(None)),
    ];
    assert_eq!(run(stdout, 0), Replay { events, outcome: finished(None) });
}

#[test]
fn output_of_a_nested_agent_is_not_part_of_the_answer() {
    let stdout = concat!(
        r#"{"type":"assistant.message_delta","data":{"parentToolCallId":"t","deltaContent":"of a helper"}}"#,
        "\n",
        r#"{"type":"assistant.message_delta","data":{"deltaContent":"own"}}"#,
    );
    assert_eq!(run(stdout, 1).answer(), "own");
}

#[test]
fn an_error_before_a_good_end_was_overcome_and_a_bad_end_without_one_is_a_failure() {
    let error = r#"{"type":"session.error","data":{"message":"for a moment"}}"#;
    assert_eq!(run(&format!("{error}\n{{\"type\":\"result\",\"exitCode\":0}}"), 0).outcome, finished(None));
    assert_eq!(run(r#"{"type":"result","exitCode":1}"#, 1).outcome, classify::failure("").into());
    assert_eq!(run(r#"{"type":"result"}"#, 0).outcome, classify::failure("").into());
}

#[test]
fn a_result_while_subagents_work_is_not_the_end() {
    let message = r#"{"type":"assistant.message","data":{"content":"It runs."}}"#;
    let started = r#"{"type":"subagent.started","data":{"toolCallId":"c1"}}"#;
    let completed = r#"{"type":"subagent.completed","data":{"toolCallId":"c1"}}"#;
    let tasks = r#"{"type":"session.background_tasks_changed","data":{"tasks":[{"id":"c1"}]}}"#;
    let result = r#"{"type":"result","sessionId":"s","exitCode":0}"#;
    let dones = |lines: &[&str]| {
        let actual = run(&lines.join("\n"), 0);
        assert_eq!(actual.outcome, finished(None));
        actual.events.iter().filter(|event| matches!(event, Event::Done(_))).count()
    };
    for working in [started, tasks] {
        assert_eq!(dones(&[message, working, result]), 0);
        assert_eq!(dones(&[message, working, completed, result]), 1);
    }
    // Most of these events name no tasks.
    assert_eq!(dones(&[message, r#"{"type":"session.background_tasks_changed","data":{}}"#, result]), 1);
}
