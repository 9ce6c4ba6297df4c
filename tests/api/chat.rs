//! The chat surface and the other routes, with the model `echo`, which needs no CLI.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Answer, Machine, Proxy, Request, StreamItem, chat, error, known, user};

/// The answer of `echo` to messages: its prompt.
fn prompt(proxy: &Proxy, messages: &Value) -> String {
    let answer = proxy.complete(&json!({"model": "echo", "messages": messages}));
    answer.content()
}

/// Tokens that were estimated: a quarter of the characters.
fn estimated(prompt: u64, completion: u64) -> Value {
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
        "estimated": true,
    })
}

/// The chunks of a stream, which must end with `[DONE]` and have the same id and time.
fn chunks(proxy: &Proxy, body: &Value) -> Vec<Value> {
    let (head, events) = proxy.stream_of(body);
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
    let mut items: Vec<StreamItem> = events.collect();
    assert_eq!(items.pop(), Some(StreamItem::Data("[DONE]".to_owned())));
    let parse = |items: StreamItem| match items {
        StreamItem::Data(data) => serde_json::from_str(&data).unwrap(),
        other => panic!("not a chunk: {other:?}"),
    };
    let chunks: Vec<Value> = items.into_iter().map(parse).collect();
    assert!(chunks.iter().all(|chunk| (&chunk["id"], &chunk["created"]) == (&chunks[0]["id"], &chunks[0]["created"])));
    chunks.into_iter().map(known).collect()
}

#[test]
fn a_whole_answer_has_every_field_that_clients_need() {
    let (_machine, proxy) = Machine::echo();
    let answer = proxy.complete(&chat("echo", "hi"));
    let expected = json!({
        "id": "ID",
        "object": "chat.completion",
        "created": 0,
        "model": "echo",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": "hi", "refusal": null},
            "logprobs": null,
            "finish_reason": "stop",
        }],
        "usage": estimated(1, 1),
    });
    assert_eq!((answer.status, known(answer.json())), (200, expected));
}

#[test]
fn a_streamed_answer_is_role_content_finish_and_done() {
    let (_machine, proxy) = Machine::echo();
    let mut body = chat("echo", "hi");
    body["stream"] = true.into();
    let chunk = |delta: Value, finish: Value| {
        json!({
            "id": "ID",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "echo",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
        })
    };
    let expected = [
        chunk(json!({"role": "assistant", "content": ""}), Value::Null),
        chunk(json!({"content": "hi"}), Value::Null),
        chunk(json!({}), "stop".into()),
    ];
    assert_eq!(chunks(&proxy, &body), expected);
}

#[test]
fn requested_usage_arrives_in_a_chunk_of_its_own() {
    let (_machine, proxy) = Machine::echo();
    let mut body = chat("echo", "hi");
    body["stream"] = true.into();
    body["stream_options"] = json!({"include_usage": true});
    let mut chunks = chunks(&proxy, &body);
    let expected = json!({
        "id": "ID",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "echo",
        "choices": [],
        "usage": estimated(1, 1),
    });
    assert_eq!(chunks.pop(), Some(expected));
    let before: Vec<_> = chunks.iter().map(|chunk| chunk.get("usage")).collect();
    assert_eq!(before, [Some(&Value::Null); 3]);
}

#[test]
fn content_may_be_text_or_parts_of_text() {
    let (_machine, proxy) = Machine::echo();
    let parts = json!([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]);
    assert_eq!(prompt(&proxy, &json!([user("one")])), "one");
    assert_eq!(prompt(&proxy, &json!([{"role": "user", "content": parts}])), "one\ntwo");
}

#[test]
fn every_role_has_its_position_in_the_prompt() {
    let (_machine, proxy) = Machine::echo();
    let messages = json!([
        {"role": "system", "content": "be brief"},
        {"role": "developer", "content": "be kind"},
        user("list the files"),
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "1", "content": "README.md"},
        user("and now?"),
    ]);
    let expected = "Previous conversation context:\nuser: list the files\n\nassistant called ls:\n> {}\n\n\
                    --- USER TASK ---\nbe brief\nbe kind\n\ntool result of ls:\n> README.md\n\nand now?";
    assert_eq!(prompt(&proxy, &messages), expected);
}

#[test]
fn unknown_fields_are_ignored() {
    let (_machine, proxy) = Machine::echo();
    let body = json!({
        "model": "echo",
        "messages": [{"role": "user", "content": "hi", "name": "me", "future": true}],
        "n": 1,
        "temperature": 0.5,
        "stream": null,
        "stream_options": null,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "tool_choice": "auto",
        "future": {"x": [1]},
    });
    let answer = proxy.complete(&body);
    assert_eq!(answer.content(), "hi");
}

#[test]
fn an_unknown_model_is_a_bad_request() {
    let (_machine, proxy) = Machine::echo();
    let answer = proxy.complete(&chat("nobody", "hi"));
    let detail = "there is no model `nobody`: GET /v1/models lists the models";
    let expected = error("Unknown model", "invalid_request_error", Some("model"), "model_not_found", Some(detail));
    assert_eq!((answer.status, answer.json()), (400, expected));
    assert_eq!(answer.header("x-should-retry"), Some("false"));
}

#[test]
fn more_than_one_choice_is_refused() {
    let (_machine, proxy) = Machine::echo();
    let mut body = chat("echo", "hi");
    body["n"] = 2.into();
    let message = "an agent gives one answer: leave `n` out, or set it to 1";
    let answer = proxy.complete(&body);
    let expected = error(message, "invalid_request_error", Some("n"), "validation", None);
    assert_eq!((answer.status, answer.json()), (400, expected));
}

/// Status, code and `param` of an error whose message contains `says`.
fn refused(answer: &Answer, says: &str) -> (u16, String, Value) {
    let error = answer.json()["error"].take();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(says), "{message}");
    (answer.status, error["code"].as_str().unwrap().to_owned(), error["param"].clone())
}

#[test]
fn a_malformed_body_is_a_bad_request() {
    let (_machine, proxy) = Machine::echo();
    let bad = |body: &str| proxy.send(&Request::post("/v1/chat/completions", body));
    let validation = |param: Value| (400, "validation".to_owned(), param);
    assert_eq!(refused(&bad("{\"model\": \"echo\""), "line 1"), validation(Value::Null));
    assert_eq!(refused(&bad("{\"model\": \"echo\"}"), "`messages`"), validation("messages".into()));
    assert_eq!(refused(&bad(""), "EOF"), validation(Value::Null));
    let answer = proxy.complete(&json!({"model": "echo", "messages": []}));
    assert_eq!(refused(&answer, "empty"), validation("messages".into()));
    let image = json!([{"type": "image_url", "image_url": {"url": "data:,"}}]);
    let answer = proxy.complete(&json!({"model": "echo", "messages": [{"role": "user", "content": image}]}));
    assert_eq!(refused(&answer, "`image_url`"), validation("messages".into()));
}

#[test]
fn a_body_must_be_declared_as_json() {
    let (_machine, proxy) = Machine::echo();
    let request = Request::complete(&chat("echo", "hi"));
    let message = "send JSON, with the header `content-type: application/json`";
    let expected = error(message, "invalid_request_error", None, "unsupported_media_type", None);
    for wrong in [request.clone().without("content-type"), request.clone().header("content-type", "text/plain")] {
        let answer = proxy.send(&wrong);
        assert_eq!((answer.status, answer.json()), (415, expected.clone()));
    }
    let right = request.header("content-type", "application/json; charset=utf-8");
    assert_eq!(proxy.send(&right).status, 200);
}

#[test]
fn health_and_readiness_are_reported() {
    let (_machine, proxy) = Machine::echo();
    for (path, says) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let answer = proxy.get(path);
        assert_eq!((answer.status, answer.body.as_str()), (200, says), "{path}");
    }
}

#[test]
fn a_wrong_path_and_a_wrong_method_are_reported_in_the_form_of_the_api() {
    let (_machine, proxy) = Machine::echo();
    let answer = proxy.get("/v1/nothing");
    let message = "no route /v1/nothing: see /v1/models and /v1/chat/completions";
    let expected = error(message, "invalid_request_error", None, "not_found", None);
    assert_eq!((answer.status, answer.json()), (404, expected));

    let answer = proxy.get("/v1/chat/completions");
    let message = "/v1/chat/completions does not accept GET";
    let expected = error(message, "invalid_request_error", None, "method_not_allowed", None);
    assert_eq!((answer.status, answer.header("allow"), answer.json()), (405, Some("POST"), expected));
}

#[test]
fn every_answer_and_its_log_lines_have_the_request_id() {
    let (_machine, proxy) = Machine::echo();
    let name = |request: Request| proxy.send(&request).header("x-request-id").unwrap().to_owned();
    let mine = Request::get("/healthz").header("x-request-id", "my-request.1");
    assert_eq!(name(mine), "my-request.1");
    let made = name(Request::get("/nothing"));
    assert_eq!((made.len(), made.matches('-').count()), (36, 4), "{made}");
    assert_ne!(name(Request::get("/nothing").header("x-request-id", "no name")), "no name");
    proxy.logged(&["answered", &made, "status=404"]);
}

#[test]
fn the_sample_configuration_serves() {
    let sample = fs::read_to_string(crate::support::fixtures().parent().unwrap().join("proxy.toml")).unwrap();
    let machine = Machine::configured(&sample);
    let proxy = machine.serve();
    assert_eq!(proxy.ask("echo", "hi"), "hi");
}
