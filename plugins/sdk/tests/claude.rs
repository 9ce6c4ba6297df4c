//! The reader of Claude-like `stream-json`, on lines that the recorded runs do not have.

use agentbay_plugin_sdk::claude::{ClaudeStream, InputTokens};
use agentbay_plugin_sdk::{Category, Event, ToolCall, ToolResult, Usage, UsageScope, Value, failed, finished};

fn read(input_tokens: InputTokens, lines: &str) -> (Vec<Event>, ClaudeStream) {
    let mut stream = ClaudeStream::new(input_tokens);
    let mut events = Vec::new();
    for line in lines.lines() {
        let value: Value = line.parse().unwrap_or_default();
        assert!(stream.read(&value, &mut events), "{line}");
    }
    (events, stream)
}

fn events(lines: &str) -> Vec<Event> {
    read(InputTokens::All, lines).0
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

#[test]
fn blocks_of_one_message_that_come_one_by_one_are_not_parted() {
    let lines = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"thinking","thinking":"Hm."}]}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"One "}]}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"message."}]}}
{"type":"assistant","message":{"id":"m2","content":"Another."}}"#;
    let expected =
        vec![Event::Reasoning("Hm.".into()), text("One "), text("message."), Event::TextBreak, text("Another.")];
    assert_eq!(events(lines), expected);
}

#[test]
fn a_message_told_in_deltas_is_not_told_again_and_the_next_one_without_deltas_is() {
    let lines = r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"thinking","thinking":"Hm."}]}}
{"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"text"}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"First."}}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"First."}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Second."}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Second."}"#;
    let expected = vec![
        Event::Reasoning("Hm.".into()),
        text("First."),
        Event::TextBreak,
        text("Second."),
        Event::Done(finished(Some("Second.".into()))),
    ];
    assert_eq!(events(lines), expected);
}

#[test]
fn text_around_a_tool_call_is_two_messages() {
    let lines = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"t1","name":"Read","input":{"path":"a"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"no "},{"type":"text","text":"file"}]}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Not there."}]}}"#;
    let expected = vec![
        text("Let me look."),
        Event::ToolCall(ToolCall { id: "t1".into(), name: "Read".into(), input: r#"{"path":"a"}"#.into() }),
        Event::ToolResult(ToolResult { id: "t1".into(), output: "no file".into(), is_error: true }),
        Event::TextBreak,
        text("Not there."),
    ];
    assert_eq!(events(lines), expected);
}

#[test]
fn what_a_nested_agent_says_is_no_part_of_the_answer() {
    let lines = r#"{"type":"stream_event","parent_tool_use_id":"t1","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}}
{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"n1","content":[{"type":"text","text":"x"}]}}
{"type":"user","parent_tool_use_id":"t1","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"x"}]}}
{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m1","content":[{"type":"text","text":"Done."}]}}"#;
    assert_eq!(events(lines), vec![text("Done.")]);
}

#[test]
fn a_session_is_told_once() {
    let lines = r#"{"type":"system","subtype":"init","session_id":"s1"}
{"type":"system","subtype":"status"}
{"type":"system","subtype":"init","session_id":"s1"}
{"type":"system","subtype":"init","session_id":"s2"}"#;
    assert_eq!(events(lines), vec![Event::Session("s1".into()), Event::Session("s2".into())]);
}

#[test]
fn input_is_everything_that_was_sent_whatever_the_cli_counts() {
    let line = r#"{"type":"result","is_error":false,"usage":{"input_tokens":10,"cache_read_input_tokens":4,"cache_creation_input_tokens":3,"output_tokens":7}}"#;
    for (kind, input) in [(InputTokens::All, 10), (InputTokens::Uncached, 17)] {
        let usage = Usage { scope: UsageScope::Run, input, cached_input: 4, cache_write: 3, output: 7, reasoning: 0 };
        assert_eq!(read(kind, line).0, vec![Event::Usage(usage), Event::Done(finished(None))]);
    }
}

#[test]
fn an_error_of_the_provider_is_not_the_assistants_word() {
    let lines = r#"{"type":"assistant","error":"authentication_failed","message":{"id":"m1","model":"<synthetic>","content":[{"type":"text","text":"Please log in"}]}}"#;
    let (events, stream) = read(InputTokens::All, lines);
    assert_eq!((events, stream.error()), (Vec::new(), "Please log in"));
}

#[test]
fn is_error_is_the_verdict_and_the_subtype_is_not() {
    let cases = [
        (r#"{"type":"result","subtype":"success","is_error":true,"result":"Please log in"}"#, "Please log in"),
        (r#"{"type":"result","subtype":"error","is_error":true,"error":{"message":"401"}}"#, "401"),
        (r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["a","b"]}"#, "a\nb"),
        (r#"{"type":"result","is_error":true}"#, ""),
    ];
    for (line, said) in cases {
        assert_eq!(events(line), vec![Event::Done(failed(Category::Unknown, "CLI failed", said))]);
    }
}

#[test]
fn fields_of_another_type_are_as_if_they_were_missing() {
    let lines = r#"{"type":"system","subtype":"init","session_id":7}
{"type":"stream_event"}
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":{}}}}
{"type":"assistant"}
{"type":"assistant","message":{"content":[1,null,{"type":"text"}]}}
{"type":"user","message":{"content":"plain"}}"#;
    assert_eq!(events(lines), Vec::new());
    let mut stream = ClaudeStream::new(InputTokens::All);
    for unknown in ["{}", "7", r#"{"type":"later"}"#, r#"{"type":[]}"#] {
        assert!(!stream.read(&unknown.parse().unwrap_or_default(), &mut Vec::new()), "{unknown}");
    }
}
