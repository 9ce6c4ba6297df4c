//! The Messages surface of the Anthropic API.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Answer, Events, Machine, Proxy, Request, StreamItem, codex_says, is_alive, wait_for};

/// A CLI whose output is passed on as it arrives.
const CONFIG: &str = "
[models.m]
driver = \"generic\"
repo = \".\"
program = \"cli\"
options = { answer = \"whole\" }
";

/// A request as the SDKs send it.
fn post(body: &Value) -> Request {
    Request::post("/v1/messages", body.to_string()).header("anthropic-version", "2023-06-01")
}

/// The body of a request with one message.
fn ask(model: &str, text: &str) -> Value {
    json!({"model": model, "max_tokens": 1000, "messages": [{"role": "user", "content": text}]})
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

fn streamed(body: &Value) -> Value {
    with(body.clone(), "stream", true.into())
}

/// The answer of `echo` to a request: its prompt.
fn prompt(proxy: &Proxy, body: &Value) -> String {
    let answer = proxy.send(&post(body));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["content"][0]["text"].as_str().expect("a text").to_owned()
}

/// Checks the id of a message, and replaces it with `ID`.
fn known(mut message: Value) -> Value {
    let id = message["id"].as_str().and_then(|id| id.strip_prefix("msg_")).expect("an id");
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    message["id"] = "ID".into();
    message
}

/// Tokens that were estimated.
fn estimated(input: u64, output: u64) -> Value {
    json!({
        "input_tokens": input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": 0},
        "estimated": true,
    })
}

/// The data of the events of a stream, each of which must have its type as its name.
fn events(proxy: &Proxy, body: &Value) -> Vec<Value> {
    let (head, events) = proxy.events(&post(&streamed(body)));
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
    events.map(event).collect()
}

fn event(item: StreamItem) -> Value {
    let StreamItem::Named(name, data) = item else { panic!("an event without a name: {item:?}") };
    let data: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(data["type"], name);
    data
}

/// The next event of this type, and the text in it.
fn text_of(events: &mut Events, kind: &str) -> String {
    let event = events.map(event).find(|event| event["type"] == kind).expect("an event");
    event["delta"]["text"].as_str().unwrap_or_default().to_owned()
}

/// Status, type and message of an error, which must have the ids that clients show.
fn error(answer: &Answer) -> (u16, String, String) {
    let body = answer.json();
    assert_eq!((&body["type"], &body["request_id"]), (&"error".into(), &answer.header("request-id").into()), "{body}");
    assert_eq!(answer.header("request-id"), answer.header("x-request-id"));
    let text = |key: &str| body["error"][key].as_str().unwrap().to_owned();
    (answer.status, text("type"), text("message"))
}

#[test]
fn a_whole_message_has_every_field_that_clients_need() {
    let (_machine, proxy) = Machine::echo();
    let answer = proxy.send(&post(&ask("echo", "hi")));
    let expected = json!({
        "id": "ID",
        "type": "message",
        "role": "assistant",
        "model": "echo",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "stop_sequence": null,
        "usage": estimated(1, 1),
    });
    assert_eq!((answer.status, known(answer.json())), (200, expected));
    assert!(answer.header("request-id").is_some_and(|id| !id.is_empty()), "{answer:?}");
}

#[test]
fn a_streamed_message_is_a_sequence_of_named_events() {
    let (_machine, proxy) = Machine::echo();
    let mut events = events(&proxy, &ask("echo", "hi"));
    events[0]["message"] = known(events[0]["message"].take());
    let start = json!({
        "id": "ID",
        "type": "message",
        "role": "assistant",
        "model": "echo",
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": estimated(1, 0),
    });
    let expected = [
        json!({"type": "message_start", "message": start}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": estimated(1, 1),
        }),
        json!({"type": "message_stop"}),
    ];
    assert_eq!(events, expected);
}

#[test]
fn reasoning_is_a_block_before_the_text_if_the_client_asks_for_it() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    let reasoning = json!({"type": "item.completed", "item": {"id": "item_1", "type": "reasoning", "text": "hm"}});
    machine.stand_in("codex", &["say", &format!("{reasoning}\n{}", codex_says("done"))]);
    let proxy = machine.serve();
    let body = with(ask("m", "hi"), "thinking", json!({"type": "adaptive"}));
    let answer = proxy.send(&post(&body)).json();
    let text = json!({"type": "text", "text": "done"});
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "YWdlbnRiYXk="});
    assert_eq!(answer["content"], json!([thinking, text]), "{answer}");
    assert_eq!(answer["usage"]["estimated"], Value::Null, "{answer}");
    let answer = proxy.send(&post(&ask("m", "hi"))).json();
    assert_eq!(answer["content"], json!([text]), "{answer}");

    let of = |event: &Value| {
        let part = |key: &str| event[key]["type"].as_str().unwrap_or_default().to_owned();
        part("content_block") + &part("delta")
    };
    let blocks: Vec<String> = events(&proxy, &body).iter().map(of).filter(|kind| !kind.is_empty()).collect();
    assert_eq!(blocks, ["thinking", "thinking_delta", "signature_delta", "text", "text_delta"]);
    let blocks: Vec<String> = events(&proxy, &ask("m", "hi")).iter().map(of).filter(|kind| !kind.is_empty()).collect();
    assert_eq!(blocks, ["text", "text_delta"]);
}

#[test]
fn a_forced_tool_is_answered_as_its_call() {
    let machine = Machine::configured(CONFIG);
    machine.script("cli", "cat >/dev/null; echo '```json'; echo '{\"city\": \"Rome\"}'; echo '```'");
    let proxy = machine.serve();
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let mut body = ask("m", "Where?");
    body["tools"] = json!([{"name": "other"}, {"name": "place", "input_schema": schema}]);
    body["tool_choice"] = json!({"type": "tool", "name": "place"});
    body["top_k"] = 5.into();
    let answer = proxy.send(&post(&body));
    let message = answer.json();
    let call = &message["content"][0];
    let expected = json!({"type": "tool_use", "id": call["id"], "name": "place", "input": {"city": "Rome"}});
    assert_eq!((&message["content"], &message["stop_reason"]), (&json!([expected]), &"tool_use".into()));
    assert_eq!(answer.header("x-agentbay-ignored"), Some("top_k"));
    let run = message["id"].as_str().unwrap().trim_start_matches("msg_");
    assert_eq!(call["id"], format!("toolu_{run}"));

    let events = events(&proxy, &body);
    let begin = &events[1]["content_block"];
    assert_eq!((&begin["type"], &begin["name"], &begin["input"]), (&"tool_use".into(), &"place".into(), &json!({})));
    let pieces = events.iter().filter_map(|event| event["delta"]["partial_json"].as_str());
    assert_eq!(serde_json::from_str::<Value>(&pieces.collect::<String>()).unwrap(), json!({"city": "Rome"}));
    assert!(events.iter().any(|event| event["delta"]["stop_reason"] == "tool_use"), "{events:?}");
}

#[test]
fn instructions_are_a_field_parts_or_messages() {
    let (_machine, proxy) = Machine::echo();
    let body = ask("echo", "hi");
    assert_eq!(prompt(&proxy, &with(body.clone(), "system", "be brief".into())), "be brief\nhi");
    let parts = json!([
        {"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "be kind"},
    ]);
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "system", "content": [], "output_config": {"effort": "medium"}},
        {"role": "system", "content": "be quick"},
    ]);
    let body = with(with(body, "system", parts), "messages", messages);
    assert_eq!(prompt(&proxy, &body), "be brief\nbe kind\nbe quick\nhi");
}

#[test]
fn unknown_versions_betas_and_blocks_are_accepted() {
    let (_machine, proxy) = Machine::echo();
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "hologram_20990101", "x": 1}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "", "signature": "?"},
            {"type": "redacted_thinking", "data": "?"},
            {"type": "text", "text": "1"},
        ]},
        {"role": "user", "content": [
            {"type": "tool_addition", "tool": {"name": "f"}},
            {"type": "hologram_20990101", "x": 2},
            {"type": "text", "text": "two"},
        ]},
    ]);
    let body = with(ask("echo", "hi"), "messages", messages);
    let request = Request::post("/v1/messages?beta=true", body.to_string()).header("anthropic-version", "2099-01-01");
    let answer = proxy.send(&request.header("anthropic-beta", "future-2099-01-01,more"));
    let text = answer.json()["content"][0]["text"].take();
    let unknown = |x: u8| format!("content of an unknown type:\n> {{\"type\":\"hologram_20990101\",\"x\":{x}}}");
    let expected = format!(
        "Previous conversation context:\nuser: one\n\n{}\n\nassistant:\n> 1\n\n--- USER TASK ---\n{}\n\ntwo",
        unknown(1),
        unknown(2)
    );
    assert_eq!(text, expected, "{answer:?}");
}

#[test]
fn a_run_that_fails_at_once_has_a_status_of_its_own() {
    let machine = Machine::configured(CONFIG);
    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", ""]);
    let proxy = machine.serve();
    let expected = (500, "api_error".to_owned(), "CLI failed: boom".to_owned());
    for body in [ask("m", "hi"), streamed(&ask("m", "hi"))] {
        let answer = proxy.send(&post(&body));
        assert_eq!(error(&answer), expected);
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
}

#[test]
fn a_run_that_fails_later_ends_its_stream_with_an_error_event() {
    let machine = Machine::configured(CONFIG);
    let open = machine.name("open");
    machine.stand_in("cli", &["gate", "--err", "boom\n", "--exit", "3", &open, "half ", "an answer"]);
    let proxy = machine.serve();
    let (head, mut events) = proxy.events(&post(&streamed(&ask("m", "hi"))));
    assert_eq!((head.status, text_of(&mut events, "content_block_delta")), (200, "half ".to_owned()));
    fs::write(open, "").unwrap();
    let last = events.map(event).last();
    let failed = json!({"type": "api_error", "message": "CLI failed: boom", "code": "unknown", "detail": "boom"});
    assert_eq!(last, Some(json!({"type": "error", "error": failed})));
}

#[test]
fn a_bad_request_is_refused_in_the_form_of_the_surface() {
    let (_machine, proxy) = Machine::echo();
    let refused = |status, kind: &str, message: &str| (status, kind.to_owned(), message.to_owned());
    let unknown = refused(400, "invalid_request_error", "Unknown model");
    assert_eq!(error(&proxy.send(&post(&ask("nobody", "hi")))), unknown);
    let count = Request::post("/v1/messages/count_tokens", ask("nobody", "hi").to_string());
    assert_eq!(error(&proxy.send(&count)), unknown);
    let zero = with(ask("echo", "hi"), "max_tokens", 0.into());
    let message = "`max_tokens` is not a positive number: send one, or leave it out";
    assert_eq!(error(&proxy.send(&post(&zero))), refused(400, "invalid_request_error", message));
    let (status, kind, _) = error(&proxy.get("/v1/messages/batches"));
    assert_eq!((status, kind.as_str()), (404, "not_found_error"));
}

#[test]
fn a_client_that_disconnects_ends_the_cli() {
    let machine = Machine::configured(CONFIG);
    let processes = machine.hanging("cli", "I am here");
    let proxy = machine.serve();
    let (_head, mut events) = proxy.events(&post(&streamed(&ask("m", "hi"))));
    assert_eq!(text_of(&mut events, "content_block_delta"), "I am here");
    drop(events);
    for file in processes {
        wait_for("the end of the CLI", || !is_alive(&file));
    }
}

#[test]
fn a_silent_stream_has_pings() {
    let machine = Machine::configured(&format!("{CONFIG}[limits]\nkeep_alive = \"1ms\"\nfirst_event_timeout = 0\n"));
    machine.hanging("cli", "");
    let proxy = machine.serve();
    let (_head, mut events) = proxy.events(&post(&streamed(&ask("m", "hi"))));
    assert_eq!(text_of(&mut events, "ping"), "");
}

#[test]
fn tokens_are_counted_without_a_run() {
    let machine = Machine::configured(CONFIG);
    let proxy = machine.serve();
    let body = json!({
        "model": "m",
        "messages": [{"role": "user", "content": "12345678"}],
        "system": "1234",
        "tools": [{"name": "f"}],
    });
    let count = Request::post("/v1/messages/count_tokens?beta=true", body.to_string());
    // As many as Claude Code sends at once.
    let counts: Vec<Answer> = (0..27).map(|_| proxy.send(&count)).collect();
    for answer in counts {
        assert_eq!((answer.status, answer.json()), (200, json!({"input_tokens": 7})));
    }
    assert!(!proxy.log().contains("run failed"), "{}", proxy.log());
}

#[test]
fn the_key_may_be_in_either_header_or_in_both() {
    let machine =
        Machine::configured("[server]\napi_keys = [\"right\"]\n[models.m]\ndriver = \"echo\"\nrepo = \".\"\n");
    let proxy = machine.serve();
    let body = ask("m", "hi");
    let status = |headers: &[(&str, &str)]| proxy.send(&post(&body).headers(headers)).status;
    assert_eq!(status(&[("x-api-key", "right")]), 200);
    assert_eq!(status(&[("authorization", "Bearer right")]), 200);
    assert_eq!(status(&[("authorization", "Bearer other"), ("x-api-key", "right")]), 200);
    assert_eq!(status(&[("authorization", "Bearer right"), ("x-api-key", "other")]), 200);
    let (status, kind, _) = error(&proxy.send(&post(&body)));
    assert_eq!((status, kind.as_str()), (401, "authentication_error"));
    for path in ["/", "/api/hello"] {
        let hello = proxy.send(&Request::get(path).method("HEAD"));
        assert_eq!((hello.status, hello.body.as_str()), (200, ""), "{path}");
    }
}

#[test]
fn what_claude_code_adds_to_a_message_is_beside_the_task() {
    let (machine, proxy) = Machine::echo();
    machine.write("AGENTS.md", "RULES\n");
    let reminder = |text: &str| format!("<system-reminder>\n{text}\n</system-reminder>");
    let text = |text: &str| json!({"type": "text", "text": text});
    let mut body = ask("echo", "");
    body["system"] = json!([
        text("x-anthropic-billing-header: cc_version=2.1.332.1c9; cc_entrypoint=cli;"),
        text("You are an agent."),
    ]);
    let first = json!({"role": "user", "content": [text(&reminder("a")), text(&reminder("b")), text("one")]});
    let environment = json!({"role": "system", "content": [text("# Environment")]});
    body["messages"] = json!([first, environment]);
    let context = format!("{}\n\n{}", reminder("a"), reminder("b"));
    let task = "--- USER TASK ---\nYou are an agent.\n# Environment";
    assert_eq!(prompt(&proxy, &body), format!("RULES\n\n{context}\n\n{task}\none"));

    let answer = json!({"role": "assistant", "content": [text("1")]});
    let next = json!({"role": "user", "content": [text("two"), text(&reminder("c"))]});
    body["messages"] = json!([first, environment, answer, next]);
    let before = format!("Previous conversation context:\n{context}\n\nuser: one\n\nassistant:\n> 1");
    assert_eq!(prompt(&proxy, &body), format!("RULES\n\n{before}\n\n{}\n\n{task}\ntwo", reminder("c")));
}

#[test]
fn case_043_system_turns_reasoning_and_unknown_blocks_are_accepted() {
    let (_machine, proxy) = Machine::echo();
    let body = json!({
        "model": "echo",
        "max_tokens": 64,
        "system": [{"type": "text", "text": "S1", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "system", "content": [{"type": "text", "text": "S2"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "x"},
                {"type": "text", "text": "b"},
            ]},
            {"role": "user", "content": [
                {"type": "tool_addition", "tool": {"name": "n"}},
                {"type": "text", "text": "c"},
            ]},
        ],
    });
    let expected = "Previous conversation context:\nuser: a\n\nassistant reasoning:\n> hm\n\nassistant:\n> b\n\n\
                    --- USER TASK ---\nS1\nS2\nc";
    assert_eq!(prompt(&proxy, &body), expected);
}

#[test]
fn a_stream_that_failed_costs_no_second_run_if_it_is_repeated_as_a_whole_request() {
    let machine = Machine::configured(CONFIG);
    machine.script("cli", "cat >/dev/null; echo >> ../tries; echo half an answer; echo boom >&2; exit 3");
    let tries = || fs::read_to_string(machine.path("tries")).unwrap().lines().count();
    let proxy = machine.serve();
    let body = with(ask("m", "hi"), "max_tokens", 128_000.into());
    let (head, events) = proxy.events(&post(&streamed(&body)));
    let last = events.map(event).last().expect("an event");
    assert_eq!((head.status, &last["type"]), (200, &"error".into()), "{last}");
    let again = proxy.send(&post(&with(with(body.clone(), "stream", false.into()), "max_tokens", 64_000.into())));
    assert_eq!(error(&again), (500, "api_error".to_owned(), "CLI failed: boom".to_owned()));
    assert_eq!(
        (again.header("x-should-retry"), again.header("x-agentbay-remembered").is_some()),
        (Some("false"), true)
    );
    assert_eq!(tries(), 1);
    assert_eq!(proxy.send(&post(&ask("m", "something else"))).status, 500);
    assert_eq!(tries(), 2);
}
