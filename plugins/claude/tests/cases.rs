//! Known faults of other readers of Claude Code's output.

use agentbay_plugin_claude::Claude;
use agentbay_plugin_sdk::testing::{Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Category, Event, ExitStatus, Failure, Outcome, RetryHint, Stop, ToolCall, Usage, UsageScope, finished,
};

fn run(stdout: &str, code: i32) -> Replay {
    replay::<Claude>(&turn("x"), stdout, Grouping::Each(1), ExitStatus::Code(code))
}

fn failure(stdout: &str) -> Option<Failure> {
    run(stdout, 0).outcome.failure
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

fn usage(input: u64, output: u64) -> Event {
    Event::Usage(Usage { scope: UsageScope::Run, input, cached_input: 0, cache_write: 0, output, reasoning: 0 })
}

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1","model":"m-a"}"#;

#[test]
fn case_003_a_line_of_three_mebibytes_takes_nothing_from_those_behind_it() {
    let output = "x".repeat(3 * 1024 * 1024);
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"t1","content":"{output}"}}"#);
    let stdout = [
        INIT,
        &format!(r#"{{"type":"user","message":{{"role":"user","content":[{block}]}}}}"#),
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"done"}]}}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"done"}"#,
    ]
    .join("\n");
    let actual = run(&stdout, 0);
    assert_eq!((actual.answer(), actual.outcome), ("done".into(), finished(Some("done".into()))));
}

#[test]
fn case_004_characters_of_several_bytes_arrive_as_they_are() {
    let stdout = r#"{"type":"result","subtype":"success","is_error":false,"result":"台 글 🌍","session_id":"s-1"}"#;
    assert_eq!(run(stdout, 0).answer(), "台 글 🌍");
}

#[test]
fn case_006_each_message_is_given_once_and_equal_ones_are_not_one() {
    let stdout = r#"{"type":"system","subtype":"init","session_id":"s-1","model":"m-a"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"PI"}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"NG"}}}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"PING"}]},"session_id":"s-1","parent_tool_use_id":null}
{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"ok"}]},"session_id":"s-1","parent_tool_use_id":null}
{"type":"assistant","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"ok"}]},"session_id":"s-1","parent_tool_use_id":null}
{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"ok","session_id":"s-1","usage":{"input_tokens":11,"output_tokens":5}}"#;
    let outcome = finished(Some("ok".into()));
    let events = vec![
        Event::Session("s-1".into()),
        text("PI"),
        text("NG"),
        Event::TextBreak,
        text("ok"),
        Event::TextBreak,
        text("ok"),
        usage(11, 5),
        Event::Done(outcome.clone()),
    ];
    assert_eq!(run(stdout, 0), Replay { events, outcome });
}

#[test]
fn case_008_the_work_of_a_nested_agent_is_no_part_of_the_answer() {
    let stdout = r#"{"type":"system","subtype":"init","session_id":"s-1","model":"m-a"}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t9","name":"Agent","input":{}}]},"session_id":"s-1","parent_tool_use_id":null}
{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"secret worker notes"}]},"session_id":"s-1","parent_tool_use_id":"t9"}
{"type":"assistant","message":{"id":"m3","role":"assistant","content":[{"type":"tool_use","id":"t10","name":"Bash","input":{"command":"ls"}}]},"session_id":"s-1","parent_tool_use_id":"t9"}
{"type":"assistant","message":{"id":"m4","role":"assistant","content":[{"type":"text","text":"summary"}]},"session_id":"s-1","parent_tool_use_id":null}
{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"summary","session_id":"s-1","usage":{"input_tokens":11,"output_tokens":5}}"#;
    let outcome = finished(Some("summary".into()));
    let events = vec![
        Event::Session("s-1".into()),
        Event::ToolCall(ToolCall { id: "t9".into(), name: "Agent".into(), input: "{}".into() }),
        text("summary"),
        usage(11, 5),
        Event::Done(outcome.clone()),
    ];
    assert_eq!(run(stdout, 0), Replay { events, outcome });
}

#[test]
fn case_018_other_separators_than_line_feeds_are_part_of_a_line() {
    let result = "a\u{2028}b\u{85}c\\fd is escaped";
    let stdout = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{result}"}}"#);
    assert_eq!(run(&stdout, 0).answer(), "a\u{2028}b\u{85}c\u{c}d is escaped");
}

#[test]
fn case_021_an_error_flag_is_a_failure_although_the_subtype_says_success() {
    let field = r#"{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"API Error: 400 bad field","session_id":"s-1","usage":{"input_tokens":0,"output_tokens":0},"api_error_status":400,"terminal_reason":"api_error"}"#;
    let expected =
        Failure::new(Category::Validation, "The provider refused the request as invalid", "API Error: 400 bad field");
    let actual = run(&format!("{INIT}\n{field}"), 0);
    assert_eq!((actual.answer(), actual.outcome.failure), (String::new(), Some(expected)));

    let limit = r#"{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"API Error: Rate limit reached","session_id":"s-1","usage":{"input_tokens":0,"output_tokens":0},"stop_reason":"stop_sequence"}"#;
    let expected = Failure {
        retry: Some(RetryHint::AfterMs(1000)),
        ..Failure::new(Category::RateLimit, "The provider's rate limit is reached", "API Error: Rate limit reached")
    };
    let actual = run(&format!("{INIT}\n{limit}"), 0);
    assert_eq!((actual.answer(), actual.outcome.failure), (String::new(), Some(expected)));
}

#[test]
fn case_033_refusals_with_one_status_are_distinguished_by_their_text() {
    let result = |text: &str| {
        let text = text.replace('"', "\\\"");
        let line = format!(
            r#"{{"type":"result","subtype":"success","is_error":true,"result":"{text}","api_error_status":429}}"#
        );
        failure(&line).map(|failure| failure.category)
    };
    let window = r#"API Error: 429 {"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-11-27 21:30:00"}}"#;
    assert_eq!(result(window), Some(Category::Quota));
    let balance = r#"API Error: 429 {"type":"error","error":{"type":"rate_limit_error","code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}"#;
    assert_eq!(result(balance), Some(Category::Quota));
    let burst = r#"API Error: 429 {"error":{"code":"1302","message":"High concurrency usage of this API"}}"#;
    assert_eq!(result(burst), Some(Category::RateLimit));
}

#[test]
fn case_048_a_refusal_is_reported_as_a_refusal() {
    let stdout = r#"{"type":"system","subtype":"init","session_id":"s-1","model":"m-a"}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[],"stop_reason":"refusal"},"session_id":"s-1","parent_tool_use_id":null}
{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"","session_id":"s-1","usage":{"input_tokens":41,"output_tokens":97},"stop_reason":"refusal"}"#;
    let outcome = Outcome { stop: Stop::Refusal, ..finished(None) };
    let events = vec![Event::Session("s-1".into()), usage(41, 97), Event::Done(outcome.clone())];
    assert_eq!(run(stdout, 0), Replay { events, outcome });
}

#[test]
fn case_071_a_session_that_is_gone_is_not_found_and_not_given_again() {
    let stdout = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"dead-1","errors":["No conversation found with session ID: dead-1"]}"#;
    let expected = Failure::new(
        Category::NotFound,
        "The session to resume does not exist",
        "No conversation found with session ID: dead-1",
    );
    let outcome: Outcome = expected.into();
    assert_eq!(run(stdout, 1), Replay { events: vec![Event::Done(outcome.clone())], outcome });
}

#[test]
fn case_076_an_empty_balance_is_a_spent_allowance() {
    let stdout = r#"{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"Credit balance is too low","session_id":"s-1","duration_api_ms":0}"#;
    let expected =
        Failure::new(Category::Quota, "The usage limit of the account is reached", "Credit balance is too low");
    assert_eq!(failure(stdout), Some(expected));
}

#[test]
fn the_format_of_the_adapter_protocol_is_read() {
    let stdout = r#"{"type":"turn.started","id":"turn_123"}
{"type":"content","content":"Hello! "}
{"type":"content","content":"How can I help?"}
{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":8}}"#;
    let events = vec![text("Hello! "), text("How can I help?"), usage(10, 8), Event::Done(finished(None))];
    assert_eq!(run(stdout, 0), Replay { events, outcome: finished(None) });
}

#[test]
fn a_limit_of_turns_is_a_failure_only_without_text() {
    let result = r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (1)"]}"#;
    let actual = run(&format!("{INIT}\n{result}"), 1);
    assert!(actual.outcome.failure.is_some());
    let text = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"So far"}]}}"#;
    let actual = run(&format!("{INIT}\n{text}\n{result}"), 1);
    assert_eq!(actual.outcome, Outcome { stop: Stop::MaxTurns, ..finished(None) });
}

#[test]
fn an_error_that_is_not_a_flag_counts_too() {
    for error in [
        r#""is_error":false,"error":"boom""#,
        r#""is_error":"true","result":"boom""#,
        r#""is_error":false,"error":{"data":{"message":"boom"}}"#,
        r#""is_error":1,"errors":[{"message":"boom"}]"#,
        r#""subtype":"error_during_execution","errors":["boom"]"#,
    ] {
        let detail = failure(&format!("{{\"type\":\"result\",{error}}}")).map(|failure| failure.detail);
        assert_eq!(detail.as_deref(), Some("boom"), "{error}");
    }
}
