//! The events of opencode's output.

use std::{fs, io};

use agentbay_plugin_opencode::Opencode;
use agentbay_plugin_sdk::testing::{Capture, Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Agent, Category, Event, ExitStatus, Failure, KillReason, Level, NO_OUTPUT, Outcome, RetryHint, Stop, StreamName,
    ToolCall, ToolResult, Transcript, Usage, UsageScope, failed, finished, notice,
};

const HELLO: &str = "The scripted model says hello. This is a plain answer in one short paragraph.";

fn folder(case: &str) -> String {
    format!("{}/../../fixtures/opencode/{case}", env!("CARGO_MANIFEST_DIR"))
}

fn recorded(case: &str) -> io::Result<Capture> {
    Capture::read(folder(case))
}

fn run(stdout: &str, code: i32) -> Replay {
    replay::<Opencode>(&turn("Say hello"), stdout, Grouping::Whole, ExitStatus::Code(code))
}

fn stderr_only(stderr: &str, how: ExitStatus) -> (Vec<Event>, Outcome) {
    let mut transcript = <Opencode as Agent>::Transcript::new(&turn("x"));
    let events = transcript.output(StreamName::Stderr, stderr);
    (events, transcript.exit(how))
}

fn session(id: &str) -> Event {
    Event::Session(id.into())
}

/// 889 sent, 222 from the cache, 289 of the answer, 44 of reasoning.
fn usage() -> Event {
    Event::Usage(Usage {
        scope: UsageScope::Step,
        input: 1111,
        cached_input: 222,
        cache_write: 0,
        output: 333,
        reasoning: 44,
    })
}

fn call(name: &str, input: &str) -> Event {
    Event::ToolCall(ToolCall { id: "call_scripted000003".into(), name: name.into(), input: input.into() })
}

fn result(output: &str, is_error: bool) -> Event {
    Event::ToolResult(ToolResult { id: "call_scripted000003".into(), output: output.into(), is_error })
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

fn done() -> Event {
    Event::Done(finished(None))
}

#[test]
fn a_plain_run_gives_session_text_usage_and_the_end() -> io::Result<()> {
    let events = vec![session("ses_de13b1043ffeXPbEKwFuQMiML6"), text(HELLO), usage(), done()];
    let actual = recorded("plain")?.replay::<Opencode>(&turn("Say hello"), Grouping::Whole);
    assert_eq!(actual, Replay { events, outcome: finished(None) });
    Ok(())
}

#[test]
fn reasoning_is_separate_from_the_answer() -> io::Result<()> {
    let reasoning = "First I consider the request. Then I decide that a short answer is enough.";
    let events = vec![
        session("ses_de0e4a863ffejzuvVVa4iL6Exq"),
        Event::Reasoning(reasoning.into()),
        text(HELLO),
        usage(),
        done(),
    ];
    assert_eq!(recorded("reasoning-thinking")?.replay::<Opencode>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn a_call_has_its_result_and_separates_the_messages_around_it() -> io::Result<()> {
    let events = vec![
        session("ses_de1390bb4ffe1s3vTArW2CEaKw"),
        text("Let me look at the files first."),
        call("bash", r#"{"command":"ls"}"#),
        result("README.md\nsrc\n", false),
        usage(),
        Event::TextBreak,
        text("Done. The tool returned 14 characters."),
        usage(),
        done(),
    ];
    assert_eq!(recorded("texttool")?.replay::<Opencode>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn a_command_that_fails_is_a_failed_call() -> io::Result<()> {
    let events = vec![
        session("ses_de1388d8cffeXoZdAJRyiC7KaW"),
        call("bash", r#"{"command":"echo to-stdout; echo to-stderr >&2; exit 3"}"#),
        result("to-stdout\nto-stderr\n", true),
        usage(),
        text("Done. The tool returned 20 characters."),
        usage(),
        done(),
    ];
    assert_eq!(recorded("toolfail")?.replay::<Opencode>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn a_rejected_call_is_a_failure_and_not_an_empty_answer() -> io::Result<()> {
    let message = "opencode ended the run at a call that it would have had to ask a person about: \
                   raise `permission` of the model, or let its `permission` rules allow or deny the call";
    let events = vec![
        session("ses_de13429deffeKV9aUkI8Le8inQ"),
        call("write", r#"{"content":"written by the script\n","filePath":"/repo/scripted.txt"}"#),
        result("The user rejected permission to use this specific tool call.", true),
        usage(),
    ];
    let actual = recorded("toolwrite-ask")?.replay::<Opencode>(&turn("x"), Grouping::Whole);
    assert_eq!(actual, Replay { events, outcome: failed(Category::Configuration, message, "") });
    Ok(())
}

#[test]
fn an_answer_that_reached_the_token_limit_has_its_stop_reason() -> io::Result<()> {
    let outcome = Outcome { stop: Stop::MaxTokens, ..finished(None) };
    let events = vec![
        session("ses_de0e40bf1ffeDK3ahfbXAJBmUA"),
        text("The scripted model says hello. This is a"),
        usage(),
        Event::Done(outcome.clone()),
    ];
    let actual = recorded("length")?.replay::<Opencode>(&turn("x"), Grouping::Whole);
    assert_eq!(actual, Replay { events, outcome });
    Ok(())
}

#[test]
fn an_error_of_the_provider_keeps_its_text_category_and_retry_time() -> io::Result<()> {
    let cases = [
        (
            "auth401",
            Category::Authentication,
            "The CLI is not logged in, or its credentials were refused. To log in: opencode auth login",
            "Incorrect API key provided: scripted.",
            None,
        ),
        (
            "nomodel",
            Category::NotFound,
            "The CLI or its provider did not find what was asked for, such as the model",
            "The model `nonexistent-model` does not exist or you do not have access to it.",
            None,
        ),
        (
            "rate429",
            Category::RateLimit,
            "The provider's rate limit is reached",
            "Rate limit reached for scripted-model. Please try again in 1s.",
            Some(RetryHint::AfterMs(1000)),
        ),
        (
            "ctx400",
            Category::Validation,
            "The prompt is longer than the model's context window",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            None,
        ),
    ];
    for (case, category, message, detail, retry) in cases {
        let actual = recorded(case)?.replay::<Opencode>(&turn("x"), Grouping::Whole);
        let failure = Failure { retry, ..Failure::new(category, message, detail) };
        assert_eq!(actual.outcome, failure.into(), "{case}");
        assert!(actual.events.contains(&notice(Level::Warning, detail)), "{case}: {:?}", actual.events);
    }
    Ok(())
}

#[test]
fn an_error_of_opencode_itself_is_classified_by_its_log() -> io::Result<()> {
    let folder = folder("nomodel-unlisted-logs");
    let mut transcript = <Opencode as Agent>::Transcript::new(&turn("x"));
    transcript.output(StreamName::Stdout, fs::read_to_string(format!("{folder}/stdout"))?.trim_end());
    transcript.output(StreamName::Stderr, fs::read_to_string(format!("{folder}/stderr"))?.trim_end());
    let detail = "ProviderModelNotFoundError: Model not found: scripted/other-model. Did you mean: scripted-model?";
    let message = "The CLI or its provider did not find what was asked for, such as the model";
    assert_eq!(transcript.exit(ExitStatus::Code(1)), failed(Category::NotFound, message, detail));
    Ok(())
}

#[test]
fn an_exhausted_quota_is_reported_once_and_at_once_although_opencode_retries() -> io::Result<()> {
    let stderr = fs::read_to_string(format!("{}/stderr", folder("quota429")))?;
    let message = "AI_APICallError: You exceeded your current quota, please check your plan and billing details.";
    let outcome = failed(Category::Quota, "The usage limit of the account is reached", message);
    let warning = notice(Level::Warning, message);
    let mut events = vec![warning.clone(), Event::Done(outcome)];
    // The third line is of the small model that finds a title.
    events.extend([warning.clone(), warning.clone(), warning.clone(), warning]);
    assert_eq!(stderr_only(stderr.trim_end(), ExitStatus::Killed(KillReason::Timeout)).0, events);
    Ok(())
}

fn model_failed(message: &str) -> String {
    format!("level=ERROR message=\"stream error\" session.id=ses_a small=false error.error=\"{message}\"")
}

#[test]
fn the_third_consecutive_failure_of_the_model_ends_the_run() {
    let failed_once = model_failed("AI_APICallError: 500 server error");
    let warning = notice(Level::Warning, "AI_APICallError: 500 server error");
    let message = "The provider failed to answer the request";
    let verdict = Event::Done(failed(Category::Server, message, "AI_APICallError: 500 server error"));
    let mut transcript = <Opencode as Agent>::Transcript::new(&turn("x"));
    assert_eq!(transcript.output(StreamName::Stderr, &failed_once), vec![warning.clone()]);
    assert_eq!(transcript.output(StreamName::Stderr, &failed_once), vec![warning.clone()]);
    // What the model says puts an end to the row.
    transcript.output(StreamName::Stdout, r#"{"type":"text","sessionID":"ses_a","part":{"text":"one"}}"#);
    assert_eq!(transcript.output(StreamName::Stderr, &failed_once), vec![warning.clone()]);
    assert_eq!(transcript.output(StreamName::Stderr, &failed_once), vec![warning.clone()]);
    assert_eq!(transcript.output(StreamName::Stderr, &failed_once), vec![warning, verdict]);
}

#[test]
fn a_long_wait_that_a_provider_asks_for_ends_the_run() {
    let message = "429 Too Many Requests: try again in 2m 30s";
    let (events, _) = stderr_only(&model_failed(message), ExitStatus::Code(1));
    let retry = Some(RetryHint::AfterMs(150_000));
    let failure =
        Failure { retry, ..Failure::new(Category::RateLimit, "The provider's rate limit is reached", message) };
    assert_eq!(events, vec![notice(Level::Warning, message), Event::Done(failure.into())]);
}

#[test]
fn an_answer_that_breaks_off_repeatedly_is_a_failure() -> io::Result<()> {
    let message = "opencode lost the connection to its provider in the middle of an answer";
    let outcome = failed(Category::Network, message, "");
    let events = vec![session("ses_de129b989ffeBT2wpQRw3gazmS"), Event::Done(outcome.clone())];
    let actual = recorded("cut")?.replay::<Opencode>(&turn("x"), Grouping::Whole);
    assert_eq!(actual, Replay { events, outcome });
    Ok(())
}

#[test]
fn a_missing_session_is_reported_on_standard_error_only() -> io::Result<()> {
    let stderr = fs::read_to_string(format!("{}/stderr", folder("resume-unknown")))?;
    // The host takes the colours away.
    let stderr = stderr.replace("\u{1b}[91m\u{1b}[1m", "").replace("\u{1b}[0m", "");
    let outcome = failed(Category::NotFound, "The session to resume does not exist", "Error: Session not found");
    assert_eq!(stderr_only(&stderr, ExitStatus::Code(1)), (vec![], outcome));
    Ok(())
}

#[test]
fn output_of_another_session_is_not_part_of_the_answer() {
    let stdout = concat!(
        r#"{"type":"step_start","sessionID":"ses_a"}"#,
        "\n",
        r#"{"type":"text","sessionID":"ses_b","part":{"text":"of a helper"}}"#,
        "\n",
        r#"{"type":"text","sessionID":"ses_a","part":{"text":"own"}}"#,
        "\n",
        r#"{"type":"step_finish","sessionID":"ses_b","part":{"reason":"stop"}}"#,
    );
    let message = "opencode ended before it had finished its turn";
    let events = vec![session("ses_a"), text("own")];
    assert_eq!(run(stdout, 0), Replay { events, outcome: failed(Category::Unknown, message, "") });
}

#[test]
fn a_step_with_stop_after_a_call_is_not_the_end() {
    let stdout = concat!(
        r#"{"type":"tool_use","part":{"callID":"1","tool":"read","state":{"status":"completed"}}}"#,
        "\n",
        r#"{"type":"step_finish","part":{"reason":"stop"}}"#,
    );
    assert!(!run(stdout, 0).events.iter().any(|event| matches!(event, Event::Done(_))));
    assert_eq!(run(stdout, 0).outcome, finished(None));
}

/// A step failed on a dropped connection, was asked again and finished; the process still exits with 1.
#[test]
fn case_019_a_step_that_finished_after_an_error_wins_over_the_exit_code() {
    let lines = [
        r#"{"type":"step_start","sessionID":"ses_a"}"#,
        r#"{"type":"error","sessionID":"ses_a","error":{"name":"ProviderTransport","data":{"message":"ECONNRESET: socket closed unexpectedly"}}}"#,
        r#"{"type":"step_start","sessionID":"ses_a"}"#,
        r#"{"type":"text","sessionID":"ses_a","part":{"type":"text","text":"recovered"}}"#,
        r#"{"type":"step_finish","sessionID":"ses_a","part":{"type":"step-finish","reason":"stop","tokens":{"input":5,"output":1}}}"#,
    ];
    let actual = run(&lines.join("\n"), 1);
    assert_eq!((actual.answer().as_str(), &actual.outcome), ("recovered", &finished(None)));

    let broken = run(&lines[..3].join("\n"), 1);
    let message = "The CLI could not reach its provider, or lost the connection";
    assert_eq!(broken.outcome, failed(Category::Network, message, "ECONNRESET: socket closed unexpectedly"));
}

/// An error on standard error, nothing on standard output, exit code 0.
#[test]
fn case_034_exit_0_without_an_answer_is_a_failure() {
    let cases = [
        ("Error: AI_APICallError: No auth credentials found", Category::Authentication),
        ("Error: Model not found: vendor/ghost-1. Did you mean: vendor/ghost-2?", Category::NotFound),
        ("Error: AI_APICallError: prompt token count of 140000 exceeds the limit of 128000", Category::Validation),
        ("warning", Category::Unknown),
    ];
    for (stderr, category) in cases {
        let (_, outcome) = stderr_only(stderr, ExitStatus::Code(0));
        assert_eq!(outcome.failure.map(|failure| failure.category), Some(category), "{stderr}");
    }
    assert_eq!(run("", 0).outcome, finished(Some(NO_OUTPUT.into())));
}
