//! Known faults of other readers of Codex's output.

use agentbay_plugin_codex::Codex;
use agentbay_plugin_sdk::testing::{Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Agent, Category, Event, ExitStatus, Failure, RetryHint, StreamName, Transcript, Usage, UsageScope, WallClock,
    failed, finished,
};

fn run(stdout: &str, code: i32) -> Replay {
    replay::<Codex>(&turn("x"), stdout, Grouping::Each(1), ExitStatus::Code(code))
}

fn usage(input: u64, output: u64) -> Event {
    Event::Usage(Usage { scope: UsageScope::Thread, input, cached_input: 0, cache_write: 0, output, reasoning: 0 })
}

/// The failure of a turn that failed with these words, which come twice.
fn failure(text: &str) -> Option<Failure> {
    let stdout = format!(
        r#"{{"type":"error","message":"{text}"}}
{{"type":"turn.failed","error":{{"message":"{text}"}}}}"#
    );
    run(&stdout, 1).outcome.failure
}

fn quota(text: &str, retry: Option<RetryHint>) -> Option<Failure> {
    Some(Failure { retry, ..Failure::new(Category::Quota, "The usage limit of the account is reached", text) })
}

#[test]
fn case_010_both_names_of_an_answer_are_read_and_an_unknown_one_is_an_error() {
    let stdout = |item: &str| {
        format!(
            r#"{{"type":"thread.started","thread_id":"th-2"}}
{{"type":"item.completed","item":{item}}}
{{"type":"turn.completed","usage":{{"input_tokens":3,"output_tokens":1}}}}"#
        )
    };
    let events =
        vec![Event::Session("th-2".into()), Event::Text("yes".into()), usage(3, 1), Event::Done(finished(None))];
    for item in [
        r#"{"id":"item_3","item_type":"assistant_message","text":"yes"}"#,
        r#"{"id":"item_3","type":"agent_message","text":"yes"}"#,
    ] {
        assert_eq!(run(&stdout(item), 0), Replay { events: events.clone(), outcome: finished(None) });
    }
    let unknown = run(&stdout(r#"{"id":"item_3","type":"final_words","text":"yes"}"#), 0).outcome;
    let message = "Codex sent its answer in an unknown format: `final_words`";
    assert_eq!(unknown, failed(Category::Unknown, message, ""));
}

#[test]
fn case_012_events_on_standard_error_are_none() {
    let mut transcript = <Codex as Agent>::Transcript::new(&turn("x"));
    let stderr = r#"INFO tool_result output=Chunk
{"type":"thread.started","thread_id":"foreign"}
{"type":"turn.failed","error":{"message":"You've hit your usage limit."}}"#;
    let stdout = r#"{"type":"thread.started","thread_id":"real"}
{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"log read"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#;
    assert_eq!(transcript.output(StreamName::Stderr, stderr), []);
    let expected =
        [Event::Session("real".into()), Event::Text("log read".into()), usage(1, 1), Event::Done(finished(None))];
    assert_eq!(transcript.output(StreamName::Stdout, stdout), expected);
}

#[test]
fn case_013_a_banner_before_the_first_event_is_skipped() {
    let stdout = r#"welcome to devshell
  {commands}: build, test

{"type":"thread.started","thread_id":"th-3"}
{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"fine"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let events =
        vec![Event::Session("th-3".into()), Event::Text("fine".into()), usage(1, 1), Event::Done(finished(None))];
    assert_eq!(run(stdout, 0), Replay { events, outcome: finished(None) });
}

#[test]
fn case_025_a_weekly_limit_keeps_its_date_and_a_duration_its_days() {
    let date =
        "You've hit your usage limit. Visit <link> to purchase more credits or try again at Nov 30th, 2026 10:03 PM.";
    let at = WallClock { hour: 22, minute: 3, day: Some(30), month: Some(11), year: Some(2026), zone: None };
    assert_eq!(failure(date), quota(date, Some(RetryHint::AtClock(at))));
    let duration = "You've hit your usage limit. Upgrade to Pro (<link>) or try again in 3 days 4 hours 5 minutes.";
    assert_eq!(failure(duration), quota(duration, Some(RetryHint::AfterMs(273_900_000))));
}

#[test]
fn case_026_a_clock_time_keeps_its_zone_and_the_words_stand_once() {
    let clock = |hour, minute, zone: Option<&str>| {
        let zone = zone.map(String::from);
        Some(RetryHint::AtClock(WallClock { hour, minute, day: None, month: None, year: None, zone }))
    };
    for (text, retry) in [
        ("You've hit your usage limit. Try again at 3:10 PM (UTC).", clock(15, 10, Some("UTC"))),
        ("You've hit your usage limit. Try again at 11:58 AM.", clock(11, 58, None)),
        ("You've hit your usage limit. Try again at 3:10 PM (Mars/Base).", clock(15, 10, Some("Mars/Base"))),
    ] {
        assert_eq!(failure(text), quota(text, retry));
    }
}

#[test]
fn case_027_the_event_tells_why_and_not_the_notice_on_standard_error() {
    let mut transcript = <Codex as Agent>::Transcript::new(&turn("x"));
    transcript.output(StreamName::Stderr, "Reading additional input from stdin...");
    let stdout = r#"{"type":"thread.started","thread_id":"th-5"}
{"type":"turn.started"}
{"type":"error","message":"You've hit your usage limit. Try again later."}
{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again later."}}"#;
    let expected =
        quota("You've hit your usage limit. Try again later.", None).map(|failure| Event::Done(failure.into()));
    assert_eq!(transcript.output(StreamName::Stdout, stdout).pop(), expected);
}

#[test]
fn case_028_a_stream_that_broke_off_is_a_matter_of_the_network() {
    let text = "stream disconnected before completion: stream closed before response.completed";
    let message = "The CLI could not reach its provider, or lost the connection";
    assert_eq!(failure(text), Some(Failure::new(Category::Network, message, text)));
}

#[test]
fn case_073_the_counts_of_a_resumed_thread_are_reported_as_totals() {
    let stdout = r#"{"type":"turn.completed","usage":{"input_tokens":31100,"output_tokens":22}}"#;
    assert_eq!(run(stdout, 0).events, [usage(31_100, 22), Event::Done(finished(None))]);
}

#[test]
fn case_078_a_folder_that_is_not_trusted_is_a_matter_of_configuration() {
    let mut transcript = <Codex as Agent>::Transcript::new(&turn("x"));
    let text = "Not inside a trusted directory and --skip-git-repo-check was not specified.";
    transcript.output(StreamName::Stderr, text);
    let message = "The CLI does not trust the folder it was started in";
    assert_eq!(transcript.exit(ExitStatus::Code(1)), failed(Category::Configuration, message, text));
}

#[test]
fn the_format_of_the_adapter_protocol_is_read() {
    for item in [
        r#"{"type":"agent_message","text":"Here's my response."}"#,
        r#"{"agent_message":{"text":"Here's my response."}}"#,
        r#"{"type":"agent_message","agent_message":{"text":"Here's my response."}}"#,
    ] {
        let stdout = format!(
            r#"{{"type":"thread.started","thread_id":"thread_abc"}}
{{"type":"item.completed","item":{item}}}
{{"type":"turn.completed"}}"#
        );
        // Without counts no usage is emitted, so that it is estimated.
        let events = vec![
            Event::Session("thread_abc".into()),
            Event::Text("Here's my response.".into()),
            Event::Done(finished(None)),
        ];
        assert_eq!(run(&stdout, 0), Replay { events, outcome: finished(None) });
    }
}

#[test]
fn counts_under_the_names_of_openai_are_read() {
    let stdout = r#"{"type":"item.completed","item":{"type":"agent_message","text":"a"}}
{"type":"turn.completed","usage":{"prompt_tokens":"3","completion_tokens":1.0}}"#;
    assert!(run(stdout, 0).events.contains(&usage(3, 1)));
}

#[test]
fn an_error_with_a_successful_end_is_a_failure() {
    for end in [
        r#"{"type":"turn.completed","error":{"message":"boom"}}"#,
        r#"{"type":"turn.completed","error":"boom"}"#,
        r#"{"type":"turn.failed","error":"boom"}"#,
        r#"{"type":"turn.failed","error":{"error":{"message":"boom"}}}"#,
    ] {
        assert_eq!(run(end, 0).outcome, failed(Category::Unknown, "CLI failed", "boom"), "{end}");
    }
}
