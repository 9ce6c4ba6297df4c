//! The Responses surface: whole and streamed answers, failures, and requests as real clients send them.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    Answer, Machine, Proxy, Request, Responding, codex_says, error, event, fixtures, is_alive, kinds, output_text,
    wait_for,
};

/// A model whose output is passed on as it arrives.
const CONFIG: &str =
    "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = { answer = \"whole\" }\n";

fn ask(model: &str, text: &str) -> Value {
    json!({"model": model, "input": text})
}

fn ask_in_stream(model: &str, text: &str) -> Value {
    json!({"model": model, "input": text, "stream": true})
}

/// Checks the id and the times of a response, and replaces them.
fn known(mut response: Value) -> Value {
    let run = response["id"].as_str().and_then(|id| id.strip_prefix("resp_")).expect("an id").to_owned();
    assert!(run.len() == 32 && run.bytes().all(|byte| byte.is_ascii_hexdigit()), "{run}");
    for item in response["output"].as_array_mut().unwrap() {
        item["id"] = item["id"].as_str().unwrap().replace(&run, "RUN").into();
    }
    let created = response["created_at"].as_u64().expect("a time");
    if let Some(completed) = response["completed_at"].as_u64() {
        assert!(completed >= created);
        response["completed_at"] = 0.into();
    }
    response["id"] = "resp_RUN".into();
    response["created_at"] = 0.into();
    response
}

fn error_of(answer: &Answer) -> (u16, Value) {
    (answer.status, answer.json())
}

#[test]
fn a_whole_response_has_every_key_that_strict_clients_need() {
    let (_machine, proxy) = Machine::echo();
    let answer = proxy.respond(&ask("echo", "hi"));
    let expected = json!({
        "id": "resp_RUN", "object": "response", "created_at": 0, "completed_at": 0, "status": "completed", "error": null,
        "incomplete_details": null,
        "output": [{
            "type": "message", "id": "msg_RUN0000", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": "hi", "annotations": [], "logprobs": []}],
        }],
        "usage": {
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2, "estimated": true,
        },
        "model": "echo", "instructions": null, "previous_response_id": null, "conversation": null,
        "max_output_tokens": null, "max_tool_calls": null, "metadata": {}, "parallel_tool_calls": true,
        "temperature": 1.0, "top_p": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "top_logprobs": 0,
        "tools": [], "tool_choice": "auto", "truncation": "disabled", "service_tier": "default",
        "text": {"format": {"type": "text"}, "verbosity": "medium"}, "reasoning": {"effort": null, "summary": null},
        "store": true, "background": false, "user": null, "safety_identifier": null, "prompt_cache_key": null,
    });
    assert_eq!((answer.status, known(answer.json())), (200, expected));
    assert_eq!(answer.header("x-agentbay-model"), Some("echo"));
}

#[test]
fn a_stream_has_the_whole_life_cycle_and_ends_with_the_whole_response() {
    let (_machine, proxy) = Machine::echo();
    let events = proxy.response_events(&ask_in_stream("echo", "hi"));
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(kinds(&events), expected);
    let item_id = &events[2]["item"]["id"];
    assert!(events[3..7].iter().all(|event| event["item_id"] == *item_id && event["content_index"] == 0));
    assert_eq!((&events[4]["delta"], &events[4]["logprobs"]), (&json!("hi"), &json!([])));
    let whole = proxy.respond(&ask("echo", "hi")).json();
    assert_eq!(known(events[8]["response"].clone()), known(whole));
    let started = known(events[0]["response"].clone());
    assert_eq!(
        (&started["status"], &started["output"], &started["usage"]),
        (&json!("in_progress"), &json!([]), &Value::Null)
    );
}

#[test]
fn reasoning_is_an_item_of_its_own_before_the_message() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    let thought = json!({"type": "item.completed", "item": {"id": "t", "type": "reasoning", "text": "hm"}});
    machine.script("codex", &format!("cat >/dev/null; cat <<'END'\n{thought}\n{}END", codex_says("so")));
    let proxy = machine.serve();
    let events = proxy.response_events(&ask_in_stream("m", "hi"));
    let reasoning = [
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
    ];
    assert_eq!(kinds(&events)[2..8], reasoning);
    let response = known(events.last().unwrap()["response"].clone());
    let item = json!({
        "type": "reasoning", "id": "rs_RUN0000", "status": "completed",
        "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": null,
    });
    assert_eq!((&response["output"][0], &response["output"][1]["id"]), (&item, &json!("msg_RUN0001")));
    assert_eq!(output_text(&response), "so");
    assert_eq!(known(proxy.respond(&ask("m", "hi")).json())["output"], response["output"]);
}

#[test]
fn an_unknown_model_is_400_and_never_404() {
    let (_machine, proxy) = Machine::echo();
    for stream in [false, true] {
        let answer = proxy.respond(&json!({"model": "nobody", "input": "hi", "stream": stream}));
        let detail = "there is no model `nobody`: GET /v1/models lists the models";
        let expected = error("Unknown model", "invalid_request_error", Some("model"), "model_not_found", Some(detail));
        assert_eq!(error_of(&answer), (400, expected));
    }
}

#[test]
fn a_failure_that_must_not_be_repeated_is_400_since_codex_repeats_404_and_5xx() {
    let machine = Machine::configured(&(CONFIG.to_owned() + "retries = 0\n"));
    let proxy = machine.serve();
    for (says, code, status) in [
        ("model not found", "not_found", 400),
        ("internal server error", "server", 400),
        ("connection refused", "network", 400),
        ("rate limit exceeded", "rate_limit", 429),
    ] {
        machine.stand_in("cli", &["say", "--err", says, "--exit", "1", ""]);
        for stream in [false, true] {
            // The second one gets the remembered failure.
            for _ in 0..2 {
                let answer = proxy.respond(&json!({"model": "m", "input": says, "stream": stream}));
                assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &json!(code)), "{answer:?}");
                assert_eq!(answer.header("x-should-retry"), (status == 400).then_some("false"));
            }
        }
    }
}

#[test]
fn a_failure_is_400_before_the_headers_and_the_last_event_after_them() {
    let machine = Machine::configured(CONFIG);
    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", ""]);
    let proxy = machine.serve();
    let failed = error("CLI failed: boom", "server_error", None, "unknown", Some("boom"));
    let answer = proxy.respond(&ask_in_stream("m", "hi"));
    assert_eq!((error_of(&answer), answer.header("x-should-retry")), ((400, failed), Some("false")));

    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", "half an answer"]);
    let events = proxy.response_events(&ask_in_stream("m", "another"));
    let last = events.last().unwrap();
    assert_eq!(kinds(&events).last(), Some(&"response.failed"));
    let expected =
        json!({"code": "invalid_prompt", "message": "CLI failed: boom", "category": "unknown", "detail": "boom"});
    assert_eq!((&last["response"]["error"], &last["response"]["status"]), (&expected, &json!("failed")));
    assert_eq!(
        (output_text(&last["response"]).as_str(), &last["response"]["output"][0]["status"]),
        ("half an answer", &json!("incomplete"))
    );
    let partial = proxy.respond(&ask("m", "a third")).json();
    assert_eq!(partial["error"]["partial"], "half an answer");
}

#[test]
fn a_client_that_disconnects_ends_the_cli_and_its_descendants() {
    let machine = Machine::configured(CONFIG);
    let processes = machine.hanging("cli", "I am here");
    let proxy = machine.serve();
    let (_head, mut events) = proxy.respond_in_stream(&ask_in_stream("m", "hi"));
    assert!(events.any(|item| event(item).is_some_and(|event| event["delta"] == "I am here")));
    drop(events);
    for file in &processes {
        wait_for("the end of a process", || !is_alive(file));
    }
    proxy.logged(&["run failed", "the run was cancelled"]);
}

#[test]
fn a_silent_stream_sends_events_that_codex_counts_as_signs_of_life() {
    let limits = "[limits]\nkeep_alive = \"20ms\"\nfirst_event_timeout = 0\n";
    let machine = Machine::configured(&(CONFIG.to_owned() + limits));
    let open = machine.name("open");
    machine.stand_in("cli", &["gate", &open, "first", " last"]);
    let proxy = machine.serve();
    let (_head, mut events) = proxy.respond_in_stream(&ask_in_stream("m", "hi"));
    let mut seen = Vec::new();
    while seen.iter().filter(|event: &&Value| event["type"] == "keepalive").count() < 3 {
        seen.extend(event(events.next().expect("an event")));
    }
    fs::write(open, "").unwrap();
    seen.extend(events.filter_map(event));
    assert!((0_u64..).zip(&seen).all(|(number, event)| event["sequence_number"] == number), "{seen:?}");
    let alive = seen.iter().find(|event| event["type"] == "keepalive").unwrap();
    assert_eq!(alive.as_object().unwrap().keys().collect::<Vec<_>>(), ["sequence_number", "type"]);
    assert_eq!(output_text(&seen.last().unwrap()["response"]), "first last");
}

#[test]
fn an_answer_that_is_too_long_to_be_repeated_at_the_end_fails() {
    let machine = Machine::configured(&(CONFIG.to_owned() + "[limits]\nanswer_buffer = \"1 KiB\"\n"));
    machine.script("cli", "cat >/dev/null; while :; do echo 'a line of an answer that never ends'; done");
    let proxy = machine.serve();
    let events = proxy.response_events(&ask_in_stream("m", "hi"));
    let last = &events.last().unwrap()["response"];
    let message = "the answer is longer than 1024 bytes: raise `limits.answer_buffer` in proxy.toml";
    assert_eq!((&last["status"], &last["error"]["message"]), (&json!("failed"), &json!(message)));
    proxy.wait_until_idle();
}

#[test]
fn a_websocket_is_refused_with_426_and_another_get_with_405() {
    let (_machine, proxy) = Machine::echo();
    let get = Request::get("/v1/responses");
    let upgrade = get.clone().headers(&[
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("openai-beta", "responses_websockets=2026-02-06"),
    ]);
    let refused = proxy.send(&upgrade);
    assert_eq!((refused.status, refused.header("upgrade")), (426, Some("HTTP/1.1")));
    assert_eq!(refused.json()["error"]["code"], "websocket_not_supported");
    assert_eq!(proxy.send(&get).status, 405);
}

/// The bodies of the recorded requests, for the model `echo`.
fn recorded() -> Vec<(String, Value)> {
    let files = fs::read_dir(fixtures().join("requests")).unwrap().map(|entry| entry.unwrap().path());
    let mut bodies = Vec::new();
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let recording: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        for request in recording["requests"].as_array().unwrap() {
            if request["method"] == "POST" && request["path"] == "/v1/responses" {
                let mut body = request["body"].clone();
                body["model"] = "echo".into();
                bodies.push((name.clone(), body));
            }
        }
    }
    bodies
}

#[test]
fn recorded_requests_of_real_clients_get_an_answer() {
    let machine = Machine::configured("[models.echo]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\n");
    // An answer that follows the schema of each recording.
    let title = r#"if grep -q '"maxLength":36'; then echo '{"title":"x"}'; else echo '{"name":"x"}'; fi"#;
    machine.script("cli", title);
    let proxy = machine.serve();
    let recorded = recorded();
    assert!(recorded.len() > 25, "only {} requests", recorded.len());
    for (name, body) in recorded {
        let answer = answered(&proxy, &body);
        let text = body.to_string();
        let may_fail = ["previous_response_id"];
        let is_refused = may_fail.iter().any(|word| text.contains(word));
        assert_eq!(answer.is_err(), is_refused, "{name}: {answer:?}");
        if let Ok(response) = answer {
            let is_complete = response["status"] == "completed" && !output_text(&response).is_empty();
            assert!(is_complete || body["background"] == true, "{name}: {response}");
        }
    }
}

/// The final response to a request, or the status of an error.
fn answered(proxy: &Proxy, body: &Value) -> Result<Value, u16> {
    if body["stream"] == true {
        let (head, events) = proxy.respond_in_stream(body);
        return match head.status {
            200 => Ok(events.filter_map(event).last().unwrap()["response"].clone()),
            status => Err(status),
        };
    }
    let answer = proxy.respond(body);
    if answer.status == 200 { Ok(answer.json()) } else { Err(answer.status) }
}
