//! What is made of the output of any CLI. The examples are those of the adapter protocol.

use agentbay_plugin_generic::Generic;
use agentbay_plugin_sdk::testing::{GROUPINGS, Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{Category, Event, ExitStatus, NO_OUTPUT, Turn, Usage, UsageScope, failed, finished};

fn with(options: &[(&str, &str)]) -> Turn {
    let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Turn { options, ..turn("x") }
}

fn run(options: &[(&str, &str)], stdout: &str) -> Replay {
    replay::<Generic>(&with(options), stdout, Grouping::Whole, ExitStatus::Code(0))
}

fn silent(answer: &str) -> Replay {
    Replay { events: Vec::new(), outcome: finished(Some(answer.into())) }
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

const LAST_BLOCK: &[(&str, &str)] = &[];
const WHOLE: &[(&str, &str)] = &[("answer", "whole")];
const JSON: &[(&str, &str)] = &[("format", "json")];
const STREAM: &[(&str, &str)] = &[("format", "stream-json")];

#[test]
fn text_follows_the_plain_text_rule_and_is_emitted_at_the_end() {
    let hello = "Hello! I'm an AI assistant. How can I help you today?";
    assert_eq!(run(LAST_BLOCK, &format!("{hello}\n")), silent(hello));
    assert_eq!(
        run(LAST_BLOCK, "loading\ntool: ls\n\n  Answer\n  in two lines \n \n\n"),
        silent("Answer\n  in two lines")
    );
}

#[test]
fn whole_text_is_emitted_as_it_arrives_without_surrounding_line_feeds() {
    let actual = run(WHOLE, "\nloading\n\nAnswer\n\n");
    assert_eq!(actual, Replay { events: vec![text("loading\n\nAnswer")], outcome: finished(None) });
    let actual = replay::<Generic>(&with(WHOLE), "a\n\nb\n", Grouping::Each(2), ExitStatus::Code(0));
    assert_eq!(actual, Replay { events: vec![text("a"), text("\n\nb")], outcome: finished(None) });
}

#[test]
fn endless_line_feeds_are_not_kept() {
    let stdout = format!("a{}b", "\n".repeat(100_000));
    let actual = replay::<Generic>(&with(WHOLE), &stdout, Grouping::Each(1000), ExitStatus::Code(0));
    assert_eq!((actual.answer() == stdout, actual.events.len()), (true, 3));
}

#[test]
fn empty_output_has_its_message_in_every_format() {
    for options in [LAST_BLOCK, WHOLE, JSON, STREAM] {
        for stdout in ["", "\n", "\n\n\n"] {
            assert_eq!(run(options, stdout), silent(NO_OUTPUT), "{options:?} {stdout:?}");
        }
    }
}

#[test]
fn one_json_value_has_its_answer_in_a_known_field() {
    let cases = [
        (r#"{"content": "Hello! How can I help you?"}"#, "Hello! How can I help you?"),
        (r#"{"content":"1","text":"2"}"#, "1"),
        (r#"{"text":"2","response":"3","content":[{"text":"4"}]}"#, "2"),
        (r#"{"response":"3","message":"4"}"#, "3"),
        (r#"{"message":"4","output":"5"}"#, "4"),
        (r#"{"output":"5","result":"6"}"#, "5"),
        (r#"{"result":"6","content":[{"text":"7"}]}"#, "6"),
        (r#"{"content":[{"type":"text","text":"7a"},{"type":"text","text":"7b"}],"choices":[]}"#, "7a7b"),
        (r#"{"choices":[{"message":{"role":"assistant","content":"8"}}],"message":{"content":"9"}}"#, "8"),
        (r#"{"message":{"content":"9","text":"10"}}"#, "9"),
        (r#"{"message":{"text":"10"}}"#, "10"),
        (r#"{"message":{"content":[{"type":"text","text":"11"}]}}"#, "11"),
        ("{\n  \"content\": \"pretty\"\n}\n", "pretty"),
        ("starting\nready\n{\"content\":\"after logs\"}\n", "after logs"),
    ];
    for (stdout, answer) in cases {
        for grouping in GROUPINGS {
            let actual = replay::<Generic>(&with(JSON), stdout, grouping, ExitStatus::Code(0));
            assert_eq!(actual, silent(answer), "{stdout}");
        }
    }
}

#[test]
fn a_single_json_value_that_is_not_an_object_is_the_answer() {
    for (stdout, answer) in [("7", "7"), ("[1,\n2]", "[1,\n2]"), ("\"Hi \\u00e9\"\n", "Hi é")] {
        assert_eq!(run(JSON, stdout), silent(answer));
    }
}

#[test]
fn output_that_is_not_json_is_text() {
    assert_eq!(run(JSON, "log\n\nHello"), silent("Hello"));
    assert_eq!(run(STREAM, "log\n\nHello\nthere"), silent("Hello\nthere"));
    assert_eq!(run(STREAM, "use {\"a\":1} or {} there"), silent("use {\"a\":1} or {} there"));
}

#[test]
fn content_events_are_joined() {
    let stdout = r#"{"type":"turn.started","id":"turn_123"}
{"type":"content","content":"Hello! "}
{"type":"content","content":"How can I help?"}
{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":8}}"#;
    let usage = Usage { scope: UsageScope::Run, input: 10, cached_input: 0, cache_write: 0, output: 8, reasoning: 0 };
    let events = vec![text("Hello! "), text("How can I help?"), Event::Usage(usage)];
    assert_eq!(run(STREAM, stdout), Replay { events, outcome: finished(None) });
}

#[test]
fn completed_items_are_messages_and_reasoning_is_not() {
    let stdout = r#"{"type":"thread.started","thread_id":"thread_abc"}
{"type":"item.completed","item":{"type":"reasoning","text":"Hm."}}
{"type":"item.completed","item":{"type":"agent_message","text":"Here's my response."}}
{"type":"item.completed","item":{"agent_message":{"text":"And more."}}}
{"type":"turn.completed"}"#;
    let events = vec![text("Here's my response."), Event::TextBreak, text("And more.")];
    assert_eq!(run(STREAM, stdout), Replay { events, outcome: finished(None) });
}

#[test]
fn role_lines_are_emitted_without_the_echo_of_the_user() {
    let stdout = r#"{"role":"user","content":"Hello"}
{"role":"assistant","content":"Hi there! How can I help?"}"#;
    let events = vec![text("Hi there! How can I help?")];
    assert_eq!(run(STREAM, stdout), Replay { events, outcome: finished(None) });
}

#[test]
fn a_result_is_the_answer_only_if_there_is_no_text() {
    let result = r#"{"type":"result","result":"All of it"}"#;
    assert_eq!(run(STREAM, result), silent("All of it"));
    let actual = run(STREAM, &format!("{}\n{result}\n", r#"{"type":"content","content":"Bit by bit"}"#));
    assert_eq!(actual, Replay { events: vec![text("Bit by bit")], outcome: finished(None) });
}

#[test]
fn every_split_of_the_output_gives_the_same() {
    let outputs = [
        (LAST_BLOCK, "log\n\nÄ last\nblock 🚀\n\n"),
        (WHOLE, "\n\nÄ first\n\n\nblock 🚀\n\n"),
        (JSON, "log\n{\"content\":\"Ä 🚀\"}\n"),
        (STREAM, "log\n{\"type\":\"content\",\"content\":\"Ä {} \"} }\n{\"role\":\"assistant\",\"content\":\"🚀\"}"),
        (STREAM, "log {}\n\n{\"a\":{}} {\"b\":1}\nlast"),
    ];
    for (options, stdout) in outputs {
        let whole = run(options, stdout);
        for grouping in GROUPINGS {
            let actual = replay::<Generic>(&with(options), stdout, grouping, ExitStatus::Code(0));
            assert_eq!(
                (actual.answer(), actual.outcome),
                (whole.answer(), whole.outcome.clone()),
                "{options:?} {grouping:?}"
            );
        }
    }
}

#[test]
fn a_stream_with_only_an_error_is_a_failure() {
    let stdout = r#"{"type":"error","message":"no credit"}"#;
    assert_eq!(run(STREAM, stdout).outcome, failed(Category::Unknown, "CLI failed", "no credit"));
}

#[test]
fn another_exit_code_is_a_failure_for_any_output() {
    for (options, detail) in [(LAST_BLOCK, "Hello"), (WHOLE, ""), (JSON, "Hello"), (STREAM, "Hello")] {
        let actual = replay::<Generic>(&with(options), "Hello", Grouping::Whole, ExitStatus::Code(1));
        assert_eq!(actual.outcome, failed(Category::Unknown, "CLI failed", detail), "{options:?}");
    }
    let stdout = r#"{"type":"turn.failed","error":{"message":"no credit"}}"#;
    let actual = replay::<Generic>(&with(STREAM), stdout, Grouping::Whole, ExitStatus::Code(1));
    assert_eq!(actual.outcome, failed(Category::Unknown, "CLI failed", "no credit"));
}
