//! The REST surface of the Gemini API, with the model `echo` and with stand-in CLIs.

use std::fs;
use std::io::Read;

use serde_json::{Value, json};

use crate::support::{Answer, Events, Machine, Proxy, Request, StreamItem, codex_says, fixtures, is_alive, wait_for};

/// A model whose output is passed on as it arrives.
const GENERIC: &str =
    "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = { answer = \"whole\" }\n";

/// The body of a request with one message.
fn contents(text: &str) -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": text}]}]})
}

fn generate(proxy: &Proxy, model: &str, body: &Value) -> Answer {
    proxy.send(&Request::post(&format!("/v1beta/models/{model}:generateContent"), body.to_string()))
}

fn stream_request(model: &str, body: &Value) -> Request {
    Request::post(&format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"), body.to_string())
}

fn stream(proxy: &Proxy, model: &str, body: &Value) -> Events {
    let (head, events) = proxy.events(&stream_request(model, body));
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
    events
}

/// The next piece of a stream, which has no comments and no names.
fn piece(events: &mut Events) -> Option<Value> {
    match events.next()? {
        StreamItem::Data(data) => Some(serde_json::from_str(&data).unwrap()),
        other => panic!("not a piece: {other:?}"),
    }
}

fn pieces(mut events: Events) -> Vec<Value> {
    std::iter::from_fn(|| piece(&mut events)).collect()
}

/// Sends a request for a stream without `alt=sse`, and returns the body.
fn array(proxy: &Proxy, model: &str, body: &Value) -> Answer {
    proxy.send(&Request::post(&format!("/v1beta/models/{model}:streamGenerateContent"), body.to_string()))
}

/// Checks the id of a response, and replaces it with `ID`.
fn known(mut response: Value) -> Value {
    let id = response["responseId"].as_str().expect("an id");
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    response["responseId"] = "ID".into();
    response
}

/// A response with these parts, or a piece of a stream.
fn response(model: &str, parts: &Value, end: Option<(&str, Value)>) -> Value {
    let mut response = json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "modelVersion": model,
        "responseId": "ID",
    });
    if let Some((reason, usage)) = end {
        response["candidates"][0]["finishReason"] = reason.into();
        response["usageMetadata"] = usage;
    }
    response
}

fn usage(prompt: u64, candidates: u64, thoughts: u64, cached: u64) -> Value {
    json!({
        "promptTokenCount": prompt,
        "candidatesTokenCount": candidates,
        "totalTokenCount": prompt + candidates + thoughts,
        "cachedContentTokenCount": cached,
        "thoughtsTokenCount": thoughts,
    })
}

/// Tokens that were estimated: a quarter of the characters.
fn estimated(prompt: u64, candidates: u64) -> Value {
    let mut usage = usage(prompt, candidates, 0, 0);
    usage["estimated"] = true.into();
    usage
}

fn text(text: &str) -> Value {
    json!([{"text": text}])
}

fn failure(code: u16, status: &str, message: &str, reason: &str, metadata: &Value) -> Value {
    json!({"error": {
        "code": code,
        "message": message,
        "status": status,
        "details": [{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": "agentbay",
            "metadata": metadata,
        }],
    }})
}

#[test]
fn a_whole_answer_has_every_field_that_clients_need() {
    let (_machine, proxy) = Machine::echo();
    for path in ["/v1beta/models/echo", "/v1/models/echo", "/v1/models/models/echo", "/v1beta/models/models%2Fecho"] {
        let answer = proxy.send(&Request::post(&format!("{path}:generateContent"), contents("hi").to_string()));
        let expected = response("echo", &text("hi"), Some(("STOP", estimated(1, 1))));
        assert_eq!((answer.status, known(answer.json())), (200, expected), "{path}");
    }
}

#[test]
fn a_streamed_answer_is_pieces_of_text_and_a_last_one_with_reason_and_usage() {
    let (_machine, proxy) = Machine::echo();
    let streamed: Vec<Value> = pieces(stream(&proxy, "echo", &contents("hi"))).into_iter().map(known).collect();
    let expected = [response("echo", &text("hi"), None), response("echo", &text(""), Some(("STOP", estimated(1, 1))))];
    assert_eq!(streamed, expected);
}

#[test]
fn a_stream_without_alt_sse_is_a_json_array_of_the_same_pieces() {
    let (_machine, proxy) = Machine::echo();
    let answer = array(&proxy, "echo", &contents("one two"));
    let Value::Array(items) = answer.json() else { panic!("not an array: {answer:?}") };
    let items: Vec<Value> = items.into_iter().map(known).collect();
    let streamed: Vec<Value> = pieces(stream(&proxy, "echo", &contents("one two"))).into_iter().map(known).collect();
    assert_eq!((answer.header("x-accel-buffering"), items), (Some("no"), streamed));
}

/// A machine with a CLI that reasons between the two halves of an answer.
fn reasoning() -> Machine {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    let item = |kind: &str, text: &str| {
        json!({"type": "item.completed", "item": {"id": text, "type": kind, "text": text}}).to_string()
    };
    let usage = json!({"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 7, "reasoning_output_tokens": 5});
    let lines = [
        item("reasoning", "hm"),
        item("agent_message", "one"),
        item("reasoning", "so"),
        item("agent_message", "two"),
        json!({"type": "turn.completed", "usage": usage}).to_string(),
    ];
    machine.script("codex", &format!("cat >/dev/null; cat <<'END'\n{}\nEND", lines.join("\n")));
    machine
}

#[test]
fn reasoning_is_in_thought_parts_if_the_client_asks_for_it_and_left_out_otherwise() {
    let machine = reasoning();
    let proxy = machine.serve();
    let end = || Some(("STOP", usage(10, 2, 5, 4)));
    let thought = |text: &str| json!({"text": text, "thought": true});
    for (config, parts) in [
        (json!({}), text("one\n\ntwo")),
        (json!({"thinkingConfig": {"includeThoughts": false}}), text("one\n\ntwo")),
        (
            json!({"thinkingConfig": {"include_thoughts": true}}),
            json!([thought("hm"), {"text": "one"}, thought("so"), {"text": "\n\ntwo"}]),
        ),
    ] {
        let mut body = contents("hi");
        body["generationConfig"] = config;
        let whole = known(generate(&proxy, "m", &body).json());
        assert_eq!(whole, response("m", &parts, end()), "{body}");
        let mut streamed: Vec<Value> = pieces(stream(&proxy, "m", &body)).into_iter().map(known).collect();
        assert_eq!(streamed.pop(), Some(response("m", &text(""), end())), "{body}");
        let folded: Vec<Value> =
            streamed.iter().map(|piece| piece["candidates"][0]["content"]["parts"][0].clone()).collect();
        assert_eq!(text_of(&folded, false), text_of(parts.as_array().unwrap(), false), "{body}");
        assert_eq!(text_of(&folded, true), text_of(parts.as_array().unwrap(), true), "{body}");
    }
}

/// The joined texts of the parts of a kind.
fn text_of(parts: &[Value], thought: bool) -> String {
    let of_kind = parts.iter().filter(|part| part["thought"].as_bool().unwrap_or(false) == thought);
    of_kind.map(|part| part["text"].as_str().unwrap()).collect()
}

#[test]
fn a_model_id_may_contain_slashes_dots_and_colons() {
    let name = "team/echo:1.5";
    let machine = Machine::configured(&format!("[models.\"{name}\"]\ndriver = \"echo\"\nrepo = \".\"\n"));
    let proxy = machine.serve();
    for path in ["v1beta/models/team/echo:1.5", "v1/models/team%2Fecho%3A1.5", "v1beta/models/models/team/echo:1.5"] {
        let answer = proxy.send(&Request::post(&format!("/{path}:generateContent"), contents("hi").to_string()));
        assert_eq!(known(answer.json()), response(name, &text("hi"), Some(("STOP", estimated(1, 1)))), "{path}");
        let answer = proxy.send(&Request::post(&format!("/{path}:countTokens"), contents("hi").to_string()));
        assert_eq!(answer.json(), json!({"totalTokens": 1}), "{path}");
        let model = proxy.send(&Request::get(&format!("/{path}")).header("x-goog-api-key", "any"));
        assert_eq!((model.status, &model.json()["name"]), (200, &json!("models/team/echo:1.5")), "{path}");
    }
}

#[test]
fn the_models_are_listed_in_the_form_of_the_gemini_api() {
    let machine = Machine::configured(
        "[defaults]\nrepo = \".\"\n[models.b]\ndriver = \"echo\"\n[models.\"a/x\"]\ndriver = \"codex\"\n",
    );
    let proxy = machine.serve();
    let model = |name: &str, driver: &str| {
        json!({
            "name": format!("models/{name}"),
            "version": "1",
            "displayName": name,
            "description": format!("A CLI agent, run by the driver {driver}"),
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        })
    };
    let expected = json!({"models": [model("a/x", "codex"), model("b", "echo")]});
    let by_header = |path: &str| proxy.send(&Request::get(path).header("x-goog-api-key", "any")).json();
    assert_eq!(proxy.get("/v1beta/models?pageSize=1000").json(), expected);
    assert_eq!(by_header("/v1/models?pageSize=1000"), expected);
    assert_eq!(proxy.get("/v1beta/models/models/b").json(), model("b", "echo"));
    assert_eq!(by_header("/v1/models/a/x"), model("a/x", "codex"));
    let unknown = failure(404, "NOT_FOUND", "The model `c` does not exist", "model_not_found", &json!({}));
    for answer in
        [proxy.get("/v1beta/models/c"), proxy.send(&Request::get("/v1/models/c").header("x-goog-api-key", "any"))]
    {
        assert_eq!((answer.status, answer.json()), (404, unknown.clone()));
    }
}

#[test]
fn tokens_are_counted_without_a_run() {
    let machine = Machine::configured("[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"missing\"\n");
    let proxy = machine.serve();
    let count = |body: &Value| proxy.send(&Request::post("/v1/models/m:countTokens", body.to_string())).json();
    let mut body = contents(&"x".repeat(33));
    assert_eq!(count(&body), json!({"totalTokens": 9}));
    let request = json!({"generateContentRequest": {"model": "models/m", "contents": body["contents"]}});
    assert_eq!(count(&request), json!({"totalTokens": 9}));
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo"}});
    body["contents"][0]["parts"].as_array_mut().unwrap().push(image);
    assert_eq!(count(&body), json!({"totalTokens": 10}));
    let unknown = proxy.send(&Request::post("/v1/models/n:countTokens", contents("hi").to_string()));
    assert_eq!((unknown.status, &unknown.json()["error"]["message"]), (400, &json!("Unknown model")));
}

#[test]
fn every_refusal_has_the_form_of_google_apis() {
    let machine = Machine::configured(&format!("[server]\napi_keys = [\"right\"]\n{GENERIC}"));
    let proxy = machine.serve();
    let post = |path: &str, body: &str| Request::post(path, body).header("x-goog-api-key", "right");
    let hi = contents("hi").to_string();
    let key = "an API key is required: send one of `server.api_keys` as `Authorization: Bearer …`, `x-api-key` or `x-goog-api-key`";
    let unknown = json!({"detail": "there is no model `n`: GET /v1/models lists the models"});
    let none = json!({});
    let one_answer = "an agent gives one answer: leave `candidateCount` out, or set it to 1";
    let many = json!({"contents": "hi", "generationConfig": {"candidateCount": 2}}).to_string();
    let no_method = |path: &str| {
        format!(
            "{path} names no method of a model: use models/MODEL:generateContent, :streamGenerateContent or :countTokens"
        )
    };
    let no_interactions =
        |path: &str| format!("{path}: there is no Interactions API here: use models/MODEL:generateContent instead");
    for (request, code, status, message, reason, metadata) in [
        (
            post("/v1beta/models/n:generateContent", &hi),
            400,
            "INVALID_ARGUMENT",
            "Unknown model".to_owned(),
            "model_not_found",
            &unknown,
        ),
        (
            post("/v1/models/n:streamGenerateContent?alt=sse", &hi),
            400,
            "INVALID_ARGUMENT",
            "Unknown model".to_owned(),
            "model_not_found",
            &unknown,
        ),
        (
            post("/v1/models/m:generateContent", &many),
            400,
            "INVALID_ARGUMENT",
            one_answer.to_owned(),
            "validation",
            &none,
        ),
        (
            post("/v1/models/m:generateContent", &hi).header("x-goog-api-key", "wrong"),
            401,
            "UNAUTHENTICATED",
            key.to_owned(),
            "invalid_api_key",
            &none,
        ),
        (
            Request::get("/v1/models").header("x-goog-api-key", "wrong"),
            401,
            "UNAUTHENTICATED",
            key.to_owned(),
            "invalid_api_key",
            &none,
        ),
        (
            post("/v1beta/models/m:embedContent", &hi),
            404,
            "NOT_FOUND",
            no_method("/v1beta/models/m:embedContent"),
            "not_found",
            &none,
        ),
        (post("/v1/models/m", &hi), 404, "NOT_FOUND", no_method("/v1/models/m"), "not_found", &none),
        (
            post("/v1beta/interactions", &hi),
            404,
            "NOT_FOUND",
            no_interactions("/v1beta/interactions"),
            "not_found",
            &none,
        ),
        (
            post("/v1/interactions/x/cancel", &hi),
            404,
            "NOT_FOUND",
            no_interactions("/v1/interactions/x/cancel"),
            "not_found",
            &none,
        ),
        (
            post("/v1beta/models", &hi),
            405,
            "UNIMPLEMENTED",
            "/v1beta/models does not accept POST".to_owned(),
            "method_not_allowed",
            &none,
        ),
    ] {
        let answer = proxy.send(&request);
        assert_eq!((answer.status, answer.json()), (code, failure(code, status, &message, reason, metadata)));
    }
    let in_query = Request::post("/v1beta/models/m:countTokens?key=right", hi);
    assert_eq!(proxy.send(&in_query).status, 200);
}

#[test]
fn a_failed_run_has_its_status_before_output_and_an_error_piece_after_it() {
    let machine = Machine::configured(GENERIC);
    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", ""]);
    let proxy = machine.serve();
    let failed = |metadata: &Value| failure(400, "FAILED_PRECONDITION", "CLI failed: boom", "unknown", metadata);
    let detail = json!({"detail": "boom"});
    let whole = generate(&proxy, "m", &contents("a"));
    assert_eq!((whole.status, whole.json(), whole.header("x-should-retry")), (400, failed(&detail), Some("false")));
    let streamed = proxy.send(&stream_request("m", &contents("b")));
    assert_eq!((streamed.status, streamed.json()), (400, failed(&detail)));

    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", "half an answer"]);
    let whole = generate(&proxy, "m", &contents("c"));
    let partial = json!({"detail": "boom", "partial": "half an answer"});
    assert_eq!((whole.status, whole.json()), (400, failed(&partial)));
    let expected = [response("m", &text("half an answer"), None), failed(&detail)];
    let mut streamed = pieces(stream(&proxy, "m", &contents("d")));
    streamed[0] = known(streamed[0].take());
    assert_eq!(streamed, expected);
    let Value::Array(mut items) = array(&proxy, "m", &contents("e")).json() else { panic!("not an array") };
    items[0] = known(items[0].take());
    assert_eq!(items, expected);
}

#[test]
fn the_failure_of_one_model_is_not_that_of_another_with_the_same_body() {
    let machine = Machine::configured(
        "[defaults]\nrepo = \".\"\n[models.a]\ndriver = \"generic\"\nprogram = \"cli\"\n[models.b]\ndriver = \"echo\"\n",
    );
    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", ""]);
    let proxy = machine.serve();
    let send = |model: &str| generate(&proxy, model, &contents("hi"));
    assert_eq!((send("a").status, send("b").status), (400, 200));
    let remembered = [send("a"), send("b")].map(|answer| answer.header("x-agentbay-remembered").is_some());
    assert_eq!(remembered, [true, false]);
    let streamed = proxy.send(&stream_request("a", &contents("hi")));
    assert!(streamed.status == 400 && streamed.header("x-agentbay-remembered").is_none(), "{streamed:?}");
}

#[test]
fn a_client_that_disconnects_ends_the_run() {
    let machine = Machine::configured(GENERIC);
    let processes = machine.hanging("cli", "I am here");
    let proxy = machine.serve();
    let mut events = stream(&proxy, "m", &contents("hi"));
    assert_eq!(known(piece(&mut events).unwrap()), response("m", &text("I am here"), None));
    assert!(processes.iter().all(|file| is_alive(file)));
    drop(events);
    for file in processes {
        wait_for("the end of the CLI", || !is_alive(&file));
    }
}

#[test]
fn a_silent_stream_is_kept_alive_by_empty_thoughts_or_white_space() {
    let machine = Machine::configured(&format!("{GENERIC}[limits]\nkeep_alive = \"20ms\"\nfirst_event_timeout = 0\n"));
    let open = machine.path("open");
    machine.stand_in("cli", &["gate", open.to_str().unwrap(), "", "hello"]);
    let proxy = machine.serve();
    let mut events = stream(&proxy, "m", &contents("hi"));
    let sign_of_life = response("m", &json!([{"text": "", "thought": true}]), None);
    assert_eq!(known(piece(&mut events).unwrap()), sign_of_life);
    fs::write(&open, "").unwrap();
    let rest = pieces(events).into_iter().map(known).filter(|piece| *piece != sign_of_life).collect::<Vec<_>>();
    let expected = [response("m", &text("hello"), None), response("m", &text(""), Some(("STOP", estimated(1, 2))))];
    assert_eq!(rest, expected);

    fs::remove_file(&open).unwrap();
    let request = Request::post("/v1beta/models/m:streamGenerateContent", contents("hi").to_string());
    let (head, mut body) = request.send(proxy.address());
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")), "{head:?}");
    let mut white_space = [0; 2];
    body.read_exact(&mut white_space).unwrap();
    assert_eq!(&white_space, b"\r\n");
    fs::write(&open, "").unwrap();
    let mut array = String::new();
    body.read_to_string(&mut array).unwrap();
    let Ok(Value::Array(items)) = serde_json::from_str(&array) else { panic!("not an array: {array:?}") };
    assert_eq!(items.into_iter().map(known).collect::<Vec<_>>(), expected);
}

#[test]
fn a_stream_whose_reasoning_is_hidden_is_kept_alive() {
    let machine = Machine::configured(
        "[models.m]\ndriver = \"codex\"\nrepo = \".\"\n[limits]\nkeep_alive = \"200ms\"\nfirst_event_timeout = 0\n",
    );
    machine.write(
        "thought",
        json!({"type": "item.completed", "item": {"id": "r", "type": "reasoning", "text": "hm"}}).to_string() + "\n",
    );
    machine.write("answer", codex_says("hello"));
    machine.script("codex", "cat >/dev/null; until [ -e ../open ]; do cat thought; sleep 0.01; done; cat answer");
    let proxy = machine.serve();
    let mut events = stream(&proxy, "m", &contents("hi"));
    let sign_of_life = response("m", &json!([{"text": "", "thought": true}]), None);
    assert_eq!(known(piece(&mut events).unwrap()), sign_of_life);
    fs::write(machine.path("open"), "").unwrap();
    let rest: Vec<Value> = pieces(events).into_iter().map(known).filter(|piece| *piece != sign_of_life).collect();
    assert_eq!(
        rest,
        [response("m", &text("hello"), None), response("m", &text(""), Some(("STOP", usage(1, 1, 0, 0))))]
    );
}

#[test]
fn an_answer_ends_where_the_client_wants_it_and_is_the_json_that_it_wants() {
    let machine = Machine::configured(GENERIC);
    let proxy = machine.serve();
    let schema = json!({"type": "ARRAY", "items": {"type": "STRING"}, "maxItems": "2"});
    let json = |schema: &Value| json!({"responseMimeType": "application/json", "responseSchema": schema});
    for (printed, config, expected, reason) in [
        ("one END two", json!({"stopSequences": ["END"]}), "one ", "STOP"),
        ("one two three", json!({"maxOutputTokens": 2}), "one two ", "MAX_TOKENS"),
        ("```json\n[1]\n```", json!({"responseMimeType": "application/json"}), "[1]", "STOP"),
        ("[\"a\", \"b\"]", json(&schema), "[\"a\", \"b\"]", "STOP"),
    ] {
        machine.stand_in("cli", &["say", printed]);
        let mut body = contents("hi");
        body["generationConfig"] = config;
        let candidate = generate(&proxy, "m", &body).json()["candidates"][0].take();
        assert_eq!(
            (&candidate["content"]["parts"], &candidate["finishReason"]),
            (&text(expected), &json!(reason)),
            "{body}"
        );
        let streamed: String = pieces(stream(&proxy, "m", &body))
            .iter()
            .map(|piece| text_of(piece["candidates"][0]["content"]["parts"].as_array().unwrap(), false))
            .collect();
        assert_eq!(streamed, expected, "{body}");
    }
    machine.stand_in("cli", &["say", "[\"a\", \"b\", \"c\"]"]);
    let mut body = contents("hi");
    body["generationConfig"] = json(&schema);
    let answer = generate(&proxy, "m", &body);
    let error = answer.json()["error"].take();
    assert_eq!((answer.status, &error["status"]), (400, &json!("FAILED_PRECONDITION")));
    assert!(error["message"].as_str().unwrap().contains("does not follow the schema"), "{error}");
    assert_eq!(error["details"][0]["metadata"]["partial"], "[\"a\", \"b\", \"c\"]");
}

#[test]
fn empty_pieces_that_a_client_keeps_in_its_history_leave_no_trace() {
    let (_machine, proxy) = Machine::echo();
    let model = |part: Value| json!({"role": "model", "parts": [part]});
    let body = json!({"contents": [
        {"role": "user", "parts": [{"text": "one"}]},
        model(json!({"text": "", "thought": true})),
        model(json!({"text": "1"})),
        model(json!({"text": ""})),
        {"role": "user", "parts": [{"text": "two"}]},
    ]});
    let expected = "Previous conversation context:\nuser: one\n\nassistant:\n> 1\n\n--- USER TASK ---\ntwo";
    assert_eq!(generate(&proxy, "echo", &body).json()["candidates"][0]["content"]["parts"], text(expected));
}

#[test]
fn parameters_without_effect_are_named_in_a_header() {
    let (_machine, proxy) = Machine::echo();
    let mut body = contents("hi");
    assert_eq!(generate(&proxy, "echo", &body).header("x-agentbay-ignored"), None);
    body["generationConfig"] = json!({"temperature": 0, "topK": 1, "maxOutputTokens": 100});
    body["safety_settings"] = json!([{"category": "HARM_CATEGORY_HARASSMENT"}]);
    let ignored = Some("safety_settings, temperature, topK");
    assert_eq!(generate(&proxy, "echo", &body).header("x-agentbay-ignored"), ignored);
    assert_eq!(proxy.events(&stream_request("echo", &body)).0.header("x-agentbay-ignored"), ignored);
}

#[test]
fn every_recorded_request_of_a_gemini_client_is_answered() {
    let models = [
        "gemini-2.5-flash",
        "gemini-3-flash-preview",
        "gemini-3.5-flash-lite",
        "gemini-3.8-flash",
        "gemini-x",
        "my-agent",
    ];
    let models = models.map(|name| format!("[models.\"{name}\"]\ndriver = \"generic\"\nprogram = \"cli\"\n"));
    let machine = Machine::configured(&format!("[defaults]\nrepo = \".\"\n{}", models.concat()));
    // It follows every schema of the recordings.
    machine.stand_in("cli", &["say", r#"{"name":"x","complexity_reasoning":"r","complexity_score":1}"#]);
    let proxy = machine.serve();
    let mut count = 0;
    for entry in fs::read_dir(fixtures().join("requests")).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.starts_with("gemini-cli-") && !name.starts_with("google-genai-") {
            continue;
        }
        let recording: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        for recorded in recording["requests"].as_array().unwrap() {
            let (method, path) = (recorded["method"].as_str().unwrap(), recorded["path"].as_str().unwrap());
            let body = if recorded["body"].is_null() { String::new() } else { recorded["body"].to_string() };
            let request = Request::post(path, body.clone()).method(method).header("x-goog-api-key", "dummy-key");
            let answer = proxy.send(&request);
            let expected = match path.rsplit(['/', ':']).next().unwrap() {
                "interactions" => 404,
                _ => 200,
            };
            assert_eq!(answer.status, expected, "{name}: {method} {path}: {answer:?}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
