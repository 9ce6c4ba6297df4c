//! The reader of Claude-like `stream-json`, on lines that the recorded runs do not have.

use agentbay_plugin_sdk::claude::{ClaudeStream, InputTokens, StreamFormat, user_message};
use agentbay_plugin_sdk::{
    Event, Level, Outcome, Stop, ToolCall, ToolResult, Usage, UsageScope, Value, classify, finished, notice,
};

fn read(input_tokens: InputTokens, lines: &str) -> (Vec<Event>, ClaudeStream) {
    let format = StreamFormat { input_tokens, error_prefix: "[API Error: ", usage_scope: UsageScope::Run };
    let mut stream = ClaudeStream::new(format);
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
fn blocks_of_one_message_that_arrive_separately_are_not_separated() {
    let lines = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"thinking","thinking":"Hm."}]}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"One "}]}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"message."}]}}
{"type":"assistant","message":{"id":"m2","content":"Another."}}"#;
    let expected =
        vec![Event::Reasoning("Hm.".into()), text("One "), text("message."), Event::TextBreak, text("Another.")];
    assert_eq!(events(lines), expected);
}

#[test]
fn a_message_sent_in_deltas_is_not_repeated_and_the_next_one_without_deltas_is_emitted() {
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
fn output_of_a_nested_agent_is_not_part_of_the_answer() {
    let lines = r#"{"type":"stream_event","parent_tool_use_id":"t1","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}}
{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"n1","content":[{"type":"text","text":"x"}]}}
{"type":"user","parent_tool_use_id":"t1","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"x"}]}}
{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m1","content":[{"type":"text","text":"Done."}]}}"#;
    assert_eq!(events(lines), vec![text("Done.")]);
}

#[test]
fn a_session_is_emitted_once() {
    let lines = r#"{"type":"system","subtype":"init","session_id":"s1"}
{"type":"system","subtype":"status"}
{"type":"system","subtype":"init","session_id":"s1"}
{"type":"system","subtype":"init","session_id":"s2"}"#;
    assert_eq!(events(lines), vec![Event::Session("s1".into()), Event::Session("s2".into())]);
}

#[test]
fn input_tokens_include_cached_ones_for_every_format() {
    let line = r#"{"type":"result","is_error":false,"usage":{"input_tokens":10,"cache_read_input_tokens":4,"cache_creation_input_tokens":3,"output_tokens":7}}"#;
    for (kind, input) in [(InputTokens::All, 10), (InputTokens::Uncached, 17)] {
        let usage = Usage { scope: UsageScope::Run, input, cached_input: 4, cache_write: 3, output: 7, reasoning: 0 };
        assert_eq!(read(kind, line).0, vec![Event::Usage(usage), Event::Done(finished(None))]);
    }
}

#[test]
fn an_error_of_the_provider_is_not_text_of_the_assistant() {
    let lines = r#"{"type":"assistant","error":"authentication_failed","message":{"id":"m1","model":"<synthetic>","content":[{"type":"text","text":"Please log in"}]}}"#;
    let (events, stream) = read(InputTokens::All, lines);
    assert_eq!((events, stream.error()), (Vec::new(), "Please log in"));
}

#[test]
fn is_error_determines_the_outcome_and_the_subtype_does_not() {
    let cases = [
        (r#"{"type":"result","subtype":"success","is_error":true,"result":"Please log in"}"#, "Please log in"),
        (r#"{"type":"result","subtype":"error","is_error":true,"error":{"message":"401"}}"#, "401"),
        (r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["a","b"]}"#, "a\nb"),
        (r#"{"type":"result","is_error":true}"#, ""),
    ];
    for (line, text) in cases {
        assert_eq!(events(line), vec![Event::Done(classify::failure(text).into())]);
    }
}

#[test]
fn an_incomplete_answer_has_its_stop_reason_and_is_not_a_failure() {
    let cases = [
        (r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["x"]}"#, Stop::MaxTurns, None),
        (
            r#"{"type":"result","subtype":"success","is_error":true,"api_error":"max_output_tokens","result":"API Error"}"#,
            Stop::MaxTokens,
            None,
        ),
        (r#"{"type":"result","is_error":false,"stop_reason":"max_tokens","result":"a"}"#, Stop::MaxTokens, Some("a")),
        (r#"{"type":"result","is_error":false,"stop_reason":"refusal","result":""}"#, Stop::Refusal, None),
    ];
    for (line, stop, answer) in cases {
        let outcome = Outcome { stop, ..finished(answer.map(String::from)) };
        assert_eq!(events(line), vec![Event::Done(outcome)], "{line}");
    }
}

#[test]
fn a_message_that_continues_after_the_token_limit_is_not_separated() {
    let lines = r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}
{"type":"stream_event","event":{"type":"content_block_start","index":0}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"One "}}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"One "}]}}
{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}}
{"type":"user","message":{"content":[{"type":"text","text":"Output token limit hit."}]}}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"m2"}}}
{"type":"stream_event","event":{"type":"content_block_start","index":0}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"two."}}}
{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"}}}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"m3"}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Three."}}}"#;
    assert_eq!(events(lines), vec![text("One "), text("two."), Event::TextBreak, text("Three.")]);
}

fn delta(text: &str) -> String {
    format!(
        r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}}}"#
    ) + "\n"
}

#[test]
fn a_repeated_message_is_emitted_once_and_a_different_one_is_a_new_message() {
    let start = |id: &str| {
        format!(r#"{{"type":"stream_event","event":{{"type":"message_start","message":{{"id":"{id}"}}}}}}"#) + "\n"
    };
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error_status":500,"error":"server_error"}"#;
    let remark = notice(Level::Warning, "the CLI asks its provider again (1 of 10): server_error 500");
    let begin = start("m1") + &delta("Hello ") + &delta("wor") + retry + "\n" + &start("m2");

    let same = begin.clone() + &delta("Hel") + &delta("lo world") + &delta("!");
    assert_eq!(events(&same), vec![text("Hello "), text("wor"), remark.clone(), text("ld"), text("!")]);

    let other = begin + &delta("Hello ") + &delta("you");
    let expected = vec![text("Hello "), text("wor"), remark, Event::TextBreak, text("Hello you")];
    assert_eq!(events(&other), expected);
}

#[test]
fn a_retry_between_two_messages_removes_nothing_from_the_second() {
    let lines = delta("ok")
        + r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"ok"}]}}
{"type":"system","subtype":"api_retry"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"m2"}}}
"# + &delta("ok");
    let remark = notice(Level::Warning, "the CLI asks its provider again ( of ):");
    assert_eq!(events(&lines), vec![text("ok"), remark, Event::TextBreak, text("ok")]);
}

#[test]
fn an_error_printed_as_text_is_not_text_and_similar_text_is_not_lost() {
    let failed = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 401]"}}"#;
    let failure = Event::Done(classify::failure("[API Error: 401]").into());
    assert_eq!(events(&(delta("Hm. ") + &delta("[API Error: 401]") + failed)), vec![text("Hm. "), failure]);

    let older = r#"{"type":"result","subtype":"success","is_error":false,"result":"[API Error: 401]"}"#;
    let failure = Event::Done(classify::failure("[API Error: 401]").into());
    assert_eq!(events(&(delta("[API Error: 401]") + older)), vec![failure]);

    let answer = r#"{"type":"result","subtype":"success","is_error":false,"result":"[API Error: 401]","usage":{"output_tokens":9}}"#;
    let usage = Usage { scope: UsageScope::Run, input: 0, cached_input: 0, cache_write: 0, output: 9, reasoning: 0 };
    let expected =
        vec![text("[API Error: 401]"), Event::Usage(usage), Event::Done(finished(Some("[API Error: 401]".into())))];
    assert_eq!(events(&(delta("[API Error: 401]") + answer)), expected);

    let quoted = delta("See [API Error: 401]") + &delta(" for that.");
    assert_eq!(events(&quoted), vec![text("See "), text("[API Error: 401]"), text(" for that.")]);
}

#[test]
fn a_stream_with_suppressed_text_has_only_the_answer_of_the_result() {
    let mut stream = read(InputTokens::All, "").1.suppress_text(true);
    let mut events = Vec::new();
    for line in [
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Here it is:"}]}}"#,
        r#"{"type":"result","is_error":false,"result":"Done.","structured_output":{"a":1}}"#,
    ] {
        stream.read(&line.parse().unwrap_or_default(), &mut events);
    }
    assert_eq!(events, vec![Event::Done(finished(Some(r#"{"a":1}"#.into())))]);
}

#[test]
fn a_tool_that_was_not_allowed_is_a_notice() {
    let line = r#"{"type":"result","is_error":false,"permission_denials":[{"tool_name":"Write"}]}"#;
    let expected = vec![notice(Level::Warning, "the tool Write was not allowed"), Event::Done(finished(None))];
    assert_eq!(events(line), expected);
}

#[test]
fn text_of_the_cli_itself_is_not_the_assistants() {
    let line =
        r#"{"type":"assistant","message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"x"}]}}"#;
    assert_eq!(events(line), Vec::new());
}

#[test]
fn a_prompt_is_one_line_of_json_followed_by_an_empty_block() {
    let line = user_message("/a \"b\"\n\u{2028}@c\\\u{2029}");
    let blocks = r#"[{"type":"text","text":"/a \"b\"\n\u2028@c\\\u2029"},{"type":"text","text":""}]"#;
    assert_eq!(line, format!(r#"{{"type":"user","message":{{"role":"user","content":{blocks}}}}}"#) + "\n");
}

#[test]
fn fields_of_another_type_count_as_missing() {
    let lines = r#"{"type":"system","subtype":"init","session_id":[7]}
{"type":"stream_event"}
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":{}}}}
{"type":"assistant"}
{"type":"assistant","message":{"content":[1,null,{"type":"text"}]}}
{"type":"user","message":{"content":"plain"}}"#;
    assert_eq!(events(lines), Vec::new());
    let (_, mut stream) = read(InputTokens::All, "");
    for unknown in ["{}", "7", r#"{"type":"later"}"#, r#"{"type":[]}"#] {
        assert!(!stream.read(&unknown.parse().unwrap_or_default(), &mut Vec::new()), "{unknown}");
    }
}
