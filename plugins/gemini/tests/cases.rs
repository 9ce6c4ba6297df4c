//! Known faults of other readers of Gemini CLI's output.

use agentbay_plugin_gemini::Gemini;
use agentbay_plugin_sdk::testing::{Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Agent, Category, Event, ExitStatus, Failure, Level, Outcome, RetryHint, StreamName, Transcript, Usage, UsageScope,
    finished, notice,
};

fn run(stdout: &str) -> Replay {
    replay::<Gemini>(&turn("x"), stdout, Grouping::Each(1), ExitStatus::Code(0))
}

/// The verdict on a run that printed this on standard error and exited with 1.
fn failed_with(stderr: &str) -> Outcome {
    let mut transcript = <Gemini as Agent>::Transcript::new(&turn("x"));
    transcript.output(StreamName::Stderr, stderr);
    transcript.exit(ExitStatus::Code(1))
}

fn usage(input: u64, output: u64, reasoning: u64) -> Event {
    Event::Usage(Usage { scope: UsageScope::Run, input, cached_input: 0, cache_write: 0, output, reasoning })
}

#[test]
fn case_014_one_object_over_many_lines_is_found_among_chatter_with_brackets() {
    let stdout = r#"Loaded cached credentials.
Step {3/9} of [2]
{
  "session_id": "g-1",
  "response": "Use {} here.\nLine two",
  "stats": {"models": {"m-g": {"tokens": {"prompt": 60, "candidates": 4, "total": 89, "cached": 0, "thoughts": 25, "tool": 0}}}}
}
bye
"#;
    let outcome = finished(Some("Use {} here.\nLine two".into()));
    let events = vec![
        Event::Session("g-1".into()),
        usage(60, 29, 25),
        Event::Done(outcome.clone()),
        notice(Level::Debug, "not an event: bye"),
    ];
    assert_eq!(run(stdout), Replay { events, outcome });
}

#[test]
fn case_015_the_echo_of_the_prompt_is_no_answer_and_a_warning_no_end() {
    let stdout = r#"{"type":"init","session_id":"g-2","model":"m-g"}
{"type":"message","role":"user","content":"say hi"}
{"type":"error","severity":"warning","message":"loop check skipped"}
{"type":"message","role":"assistant","content":"H","delta":true}
{"type":"message","role":"assistant","content":"i","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":12,"input_tokens":10,"output_tokens":2,"cached":0,"tool_calls":0}}"#;
    let events = vec![
        Event::Session("g-2".into()),
        notice(Level::Warning, "loop check skipped"),
        Event::Text("H".into()),
        Event::Text("i".into()),
        usage(10, 2, 0),
        Event::Done(finished(None)),
    ];
    assert_eq!(run(stdout), Replay { events, outcome: finished(None) });
}

#[test]
fn case_029_a_limit_of_a_minute_is_known_by_its_delay_in_json_within_json() {
    let stderr = r#"[API Error: {"error":{"message":"{\n \"error\": {\n \"code\": 429, \"message\": \"You exceeded your current quota, please check your plan and billing details. Please retry in 59.44s.\", \"status\": \"RESOURCE_EXHAUSTED\", \"details\": [{\"violations\":[{\"quotaId\":\"GenerateContentPaidTierInputTokensPerModelPerMinute\"}]},{\"retryDelay\":\"59s\"}]}}","code":429}}]"#;
    let expected = Failure {
        retry: Some(RetryHint::AfterMs(59_440)),
        ..Failure::new(Category::RateLimit, "The provider's rate limit is reached", stderr)
    };
    assert_eq!(failed_with(stderr), expected.into());
}

#[test]
fn case_030_a_daily_allowance_is_no_burst_limit() {
    let quota =
        |message: &str| Failure::new(Category::Quota, "The usage limit of the account is reached", message).into();
    for message in [
        "429 RESOURCE_EXHAUSTED quotaId GenerateRequestsPerDayPerProjectPerModel-FreeTier",
        "You have exhausted your daily quota on this model.",
    ] {
        assert_eq!(failed_with(message), quota(message));
    }
    let message = "You have exhausted your capacity on this model. Your quota will reset after 49s.";
    let expected = Failure {
        retry: Some(RetryHint::AfterMs(49_000)),
        ..Failure::new(Category::RateLimit, "The provider's rate limit is reached", message)
    };
    assert_eq!(failed_with(message), expected.into());
}
