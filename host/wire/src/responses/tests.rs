//! The recorded requests of clients of this surface, and requests in the forms that clients may send.

use agentbay_domain::{AnswerFormat, Message, Role};
use serde_json::{Value, json};

use super::*;
use crate::recordings::{compare, shown};

#[test]
fn recorded_requests_are_decoded_as_reviewed() {
    compare(&["codex-", "openai-py-responses", "openai-js", "openai-agents-", "ai-sdk-responses-"], |path, body| {
        (path == "/v1/responses").then(|| decoded(body))
    });
}

fn decoded(body: &[u8]) -> Value {
    let request = match decode(body) {
        Ok(request) => request,
        Err(refused) => return json!({"refused": refused.to_string()}),
    };
    let format = match &request.ask.format {
        AnswerFormat::Text => Value::Null,
        AnswerFormat::Json => "json".into(),
        AnswerFormat::Schema(schema) => {
            json!({"name": schema.name, "schema": serde_json::from_str::<Value>(&schema.json).unwrap()})
        }
    };
    let context = match &request.context {
        Some(Context::Response(id)) => json!({"response": id}),
        Some(Context::Conversation(id)) => json!({"conversation": id}),
        None => Value::Null,
    };
    let messages = match request.conversation([]) {
        Ok(conversation) => shown(&conversation),
        Err(refused) => json!({"refused": refused.to_string()}),
    };
    json!({
        "model": request.model,
        "messages": messages,
        "context": context,
        "format": format,
        "max_output": request.ask.max_output,
        "stream": request.stream,
        "store": request.store,
        "background": request.background,
    })
}

fn read(body: &Value) -> Result<ResponsesRequest, String> {
    decode(body.to_string().as_bytes()).map_err(|refused| format!("{:?} {}", refused.param, refused.message))
}

fn with(key: &str, value: Value) -> Value {
    let mut body = json!({"model": "m", "input": "hi"});
    body[key] = value;
    body
}

fn messages(body: &Value) -> Vec<Message> {
    read(body).unwrap().conversation([]).unwrap().messages().to_vec()
}

#[test]
fn input_is_a_text_an_item_or_a_list_and_instructions_come_first() {
    let hi = || Message::text(Role::User, "hi");
    for input in [
        json!("hi"),
        json!(["hi"]),
        json!([null, "hi"]),
        json!({"role": "user", "content": "hi"}),
        json!([{"type": "message", "id": "msg_1", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]),
    ] {
        assert_eq!(messages(&with("input", input.clone())), [hi()], "{input}");
    }
    for instructions in [
        json!("be brief"),
        json!([{"role": "developer", "content": "be brief"}]),
        json!({"role": "system", "content": [{"type": "input_text", "text": "be brief"}]}),
    ] {
        let read = messages(&with("instructions", instructions.clone()));
        assert_eq!(read, [Message::text(Role::System, "be brief"), hi()], "{instructions}");
    }
    for instructions in [json!(null), json!(""), json!([])] {
        assert_eq!(messages(&with("instructions", instructions.clone())), [hi()], "{instructions}");
    }
}

#[test]
fn fields_that_are_unknown_null_or_loosely_typed_are_accepted() {
    for (key, value) in [
        ("temperature", json!("hot")),
        ("top_logprobs", json!(-1)),
        ("metadata", json!([1])),
        ("metadata", json!({"a": 1, "b": null})),
        ("reasoning", json!("high")),
        ("text", json!("text")),
        ("text", json!({"format": null, "verbosity": 3})),
        ("text", json!({"format": {"type": "text"}})),
        ("text", json!({"format": "text"})),
        ("max_output_tokens", json!(null)),
        ("max_output_tokens", json!("100")),
        ("max_tool_calls", json!(1e300)),
        ("stream", json!("false")),
        ("stream_options", json!([])),
        ("tools", json!([{"type": "namespace", "tools": [{}]}, {"type": "web_search"}, 7])),
        ("tool_choice", json!({"type": "allowed_tools", "mode": "auto", "tools": []})),
        ("include", json!("reasoning.encrypted_content")),
        ("previous_response_id", json!("")),
        ("conversation", json!(null)),
        ("store", json!("maybe")),
        ("background", json!(null)),
        ("prompt", json!(null)),
        ("client_metadata", json!({"x": {}})),
        ("future", json!({})),
    ] {
        let body = with(key, value);
        let request = read(&body).unwrap();
        let expected = (true, false, false, None);
        assert_eq!((request.store, request.background, request.stream, request.context), expected, "{body}");
    }
    let request = read(&with("max_output_tokens", json!("100"))).unwrap();
    assert_eq!(request.ask.max_output, Some(100));
    for id in [json!("conv_1"), json!({"id": "conv_1"})] {
        let request = read(&with("conversation", id)).unwrap();
        assert_eq!(request.context, Some(Context::Conversation("conv_1".to_owned())));
    }
}

#[test]
fn an_unsupported_request_is_refused_with_the_name_of_the_field() {
    for (body, param, says) in [
        (json!({"input": "hi"}), "model", "`model` is missing"),
        (json!({"model": "m"}), "input", "`input` is missing"),
        (with("input", json!(7)), "input", "`input` is missing"),
        (with("input", json!([])), "input", "`input` is empty"),
        (with("stream", json!({})), "stream", "neither true nor false"),
        (with("tool_choice", json!("required")), "tool_choice", "own tools"),
        (with("tool_choice", json!({"type": "function", "name": "f"})), "tool_choice", "own tools"),
        (with("text", json!({"format": {"type": "json_schema"}})), "text", "has none"),
        (with("text", json!({"format": {"type": "grammar"}})), "text", "`grammar`"),
        (with("max_output_tokens", json!(0)), "max_output_tokens", "positive number"),
        (with("max_output_tokens", json!("many")), "max_output_tokens", "positive number"),
        (with("prompt", json!({"id": "pmpt_1"})), "prompt", "not kept here"),
        (
            json!({"model": "m", "input": "hi", "previous_response_id": "resp_1", "conversation": "conv_1"}),
            "conversation",
            "exclude each other",
        ),
        (json!({"model": "m", "input": "hi", "background": true, "store": false}), "store", "has to be stored"),
    ] {
        let refused = read(&body).unwrap_err();
        assert!(refused.starts_with(&format!("Some({param:?})")) && refused.contains(says), "{refused}");
    }
    for (input, says) in [
        (json!([{"role": "robot", "content": "hi"}]), "input[0] has the unknown role `robot`"),
        (json!([{"role": "user", "content": [{"type": "input_image", "image_url": "data:"}]}]), "`input_image`"),
        (json!([{"role": "assistant", "content": "hi"}]), "nothing to answer"),
    ] {
        let refused = read(&with("input", input)).unwrap().conversation([]).unwrap_err();
        assert!(refused.param == Some("input") && refused.message.contains(says), "{refused}");
    }
}

#[test]
fn what_only_its_provider_can_read_does_not_reach_the_agent() {
    let input = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": null, "encrypted_content": "gAAA"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"},
        {"type": "message", "role": "user", "content": "hi", "internal_chat_message_metadata_passthrough": {"x": 1}},
    ]);
    let read = messages(&with("input", input));
    assert!(!format!("{read:?}").contains("gAAA") && !format!("{read:?}").contains("passthrough"), "{read:?}");
}

#[test]
fn earlier_items_stand_between_the_instructions_and_the_input() {
    let mut earlier = Response::new("r", 0, read(&with("input", json!("x"))).unwrap().settings);
    earlier.open_message();
    earlier.add("I am here");
    earlier.close();
    let mut stands = read(&with("input", json!("before"))).unwrap().input;
    stands.extend(earlier.output().iter().map(Item::of_output));
    let request = read(&with("instructions", json!("be brief"))).unwrap();
    let expected =
        [(Role::System, "be brief"), (Role::User, "before"), (Role::Assistant, "I am here"), (Role::User, "hi")]
            .map(|(role, text)| Message::text(role, text));
    assert_eq!(request.conversation(&stands).unwrap().messages(), expected);
}

#[test]
fn an_id_of_an_item_names_its_response() {
    let run = "01a21f075887711ca6c0965797dfc40a";
    let mut response = Response::new(run, 0, read(&with("input", json!("x"))).unwrap().settings);
    response.open_reasoning();
    response.open_message();
    let ids: Vec<&str> = response.output().iter().map(OutputItem::id).collect();
    assert_eq!(ids, [format!("rs_{run}0000"), format!("msg_{run}0001")]);
    assert!(ids.iter().all(|id| Response::of_item(id).as_ref() == Some(&response.id)));
    assert_eq!(["msg_1", "", "x"].map(Response::of_item), [const { None }; 3]);
}

#[test]
fn the_response_repeats_the_settings_of_the_request() {
    let body = json!({
        "model": "m", "input": "hi", "instructions": "be brief", "temperature": 0.5, "tool_choice": "none",
        "metadata": {"a": "b", "n": 7}, "text": {"format": {"type": "json_object"}, "verbosity": "low"},
        "reasoning": {"effort": "high", "summary": "auto"}, "previous_response_id": "resp_1", "user": "me",
        "truncation": "auto", "max_output_tokens": 9, "tools": [{"type": "function", "name": "f"}], "store": false,
    });
    let response = Response::new("r", 5, read(&body).unwrap().settings);
    let expected = json!({
        "id": "resp_r", "object": "response", "created_at": 5, "completed_at": null, "status": "in_progress", "error": null,
        "incomplete_details": null, "output": [], "usage": null, "model": "m", "instructions": "be brief",
        "previous_response_id": "resp_1", "conversation": null, "max_output_tokens": 9, "max_tool_calls": null,
        "metadata": {"a": "b", "n": "7"}, "parallel_tool_calls": true, "temperature": 0.5, "top_p": 1.0,
        "presence_penalty": 0.0, "frequency_penalty": 0.0, "top_logprobs": 0, "tools": [], "tool_choice": "none",
        "truncation": "auto", "service_tier": "default", "text": {"format": {"type": "json_object"}, "verbosity": "low"},
        "reasoning": {"effort": "high", "summary": "auto"}, "store": false, "background": false, "user": "me",
        "safety_identifier": null, "prompt_cache_key": null,
    });
    assert_eq!(serde_json::to_value(response).unwrap(), expected);
}
