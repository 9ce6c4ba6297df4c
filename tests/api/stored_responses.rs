//! Responses that continue earlier ones, conversations, and responses in the background.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    Answer, ECHO, Machine, Proxy, Request, Responding, event, is_alive, kinds, output_text, wait_for,
};

/// A model whose output is passed on as it arrives.
const CONFIG: &str =
    "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = { answer = \"whole\" }\n";

fn ask(text: &str) -> Value {
    json!({"model": "echo", "input": text})
}

fn with(mut body: Value, key: &str, value: impl Into<Value>) -> Value {
    body[key] = value.into();
    body
}

/// The id of a response that has succeeded.
fn id_of(answer: &Answer) -> String {
    let response = answer.json();
    assert_eq!((answer.status, &response["status"]), (200, &json!("completed")), "{answer:?}");
    response["id"].as_str().unwrap().to_owned()
}

fn error_of(answer: &Answer) -> (u16, Value, Value) {
    let error = answer.json()["error"].take();
    (answer.status, error["code"].clone(), error["param"].clone())
}

fn delete(path: &str) -> Request {
    Request::get(path).method("DELETE")
}

fn response_path(response: &Value) -> String {
    format!("/v1/responses/{}", response["id"].as_str().unwrap())
}

#[test]
fn input_and_output_of_the_previous_response_stand_before_the_input() {
    let (_machine, proxy) = Machine::echo();
    let first = id_of(&proxy.respond(&with(ask("one"), "instructions", "be brief")));
    // Streamed, so that both kinds of answer are stored.
    let body = with(with(ask("two"), "previous_response_id", first.clone()), "stream", true);
    let events = proxy.response_events(&body);
    let second = &events.last().unwrap()["response"];
    let prompt = output_text(second);
    assert_eq!(second["previous_response_id"], first);
    let positions: Vec<usize> = ["user: one", "be brief", "two"].iter().filter_map(|part| prompt.find(part)).collect();
    assert!(positions.is_sorted() && positions.len() == 3, "{prompt}");
    assert!(!prompt.starts_with("be brief"), "instructions are not inherited: {prompt}");
    let third = proxy.respond(&with(ask("three"), "previous_response_id", second["id"].clone())).json();
    let prompt = output_text(&third);
    assert!(prompt.contains("two") && prompt.contains("three"), "{prompt}");
    // What a response continues is fixed when it is created.
    let branch = proxy.respond(&with(ask("four"), "previous_response_id", first)).json();
    assert!(!output_text(&branch).contains("two"), "{branch}");
}

#[test]
fn a_response_that_cannot_be_continued_is_refused_with_400() {
    let machine = Machine::configured(&(ECHO.to_owned() + CONFIG));
    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", "half an answer"]);
    let proxy = machine.serve();
    let refused = (400, json!("previous_response_not_found"), json!("previous_response_id"));
    let unstored = id_of(&proxy.respond(&with(ask("hi"), "store", false)));
    let deleted = id_of(&proxy.respond(&ask("hi")));
    let gone = proxy.send(&delete(&format!("/v1/responses/{deleted}")));
    assert_eq!((gone.status, gone.json()), (200, json!({"id": deleted, "object": "response", "deleted": true})));
    let failing = json!({"model": "m", "input": "hi", "stream": true});
    let failed = proxy.response_events(&failing).pop().unwrap()["response"].take();
    let shown = proxy.get(&response_path(&failed)).json();
    assert_eq!((&shown["status"], &shown), (&json!("failed"), &failed));
    for id in [unstored.as_str(), &deleted, failed["id"].as_str().unwrap(), "resp_nobody", "conv_1"] {
        let answer = proxy.respond(&with(ask("more"), "previous_response_id", id));
        assert_eq!(error_of(&answer), refused, "{id}");
    }
    for id in [unstored.as_str(), &deleted, "resp_nobody"] {
        let path = format!("/v1/responses/{id}");
        let unknown = (404, json!("response_not_found"), Value::Null);
        assert_eq!(error_of(&proxy.get(&path)), unknown, "{id}");
        assert_eq!(error_of(&proxy.send(&delete(&path))), unknown, "{id}");
        assert_eq!(error_of(&proxy.get(&format!("{path}/input_items"))), unknown, "{id}");
    }
    let missing = (400, json!("conversation_not_found"), json!("conversation"));
    assert_eq!(error_of(&proxy.respond(&with(ask("more"), "conversation", "conv_1"))), missing);
}

#[test]
fn a_stored_response_is_shown_as_it_was_answered_with_its_input() {
    let (_machine, proxy) = Machine::echo();
    let answer = proxy.respond(&with(ask("one"), "metadata", json!({"a": "b"}))).json();
    assert_eq!(proxy.get(&response_path(&answer)).json(), answer);
    let more = proxy.respond(&with(ask("two"), "previous_response_id", answer["id"].clone())).json();
    let list = proxy.get(&(response_path(&more) + "/input_items?order=asc&limit=2")).json();
    let texts: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|item| &item["content"][0]["text"]).collect();
    assert_eq!((texts, &list["has_more"]), (vec![&json!("one"), &json!("one")], &json!(true)));
    assert_eq!((&list["data"][0]["role"], &list["data"][1]["id"]), (&json!("user"), &answer["output"][0]["id"]));
    let newest = proxy.get(&(response_path(&more) + "/input_items")).json();
    assert_eq!((&newest["data"][0]["content"][0]["text"], &newest["has_more"]), (&json!("two"), &json!(false)));
    assert_eq!((&newest["first_id"], &newest["object"]), (&newest["data"][0]["id"], &json!("list")));
}

#[test]
fn an_item_reference_stands_for_a_stored_item() {
    let (_machine, proxy) = Machine::echo();
    let answer = proxy.respond(&ask("planted")).json();
    let reference = json!({"type": "item_reference", "id": answer["output"][0]["id"]});
    let question = json!({"role": "user", "content": "more"});
    let body = json!({"model": "echo", "input": [reference, question]});
    let prompt = output_text(&proxy.respond(&body).json());
    assert!(prompt.contains("planted") && prompt.contains("more"), "{prompt}");
    let unknown = json!({"model": "echo", "input": [{"type": "item_reference", "id": "msg_1"}, question]});
    let refused = proxy.respond(&unknown);
    assert_eq!(error_of(&refused), (400, json!("validation"), json!("input")));
}

#[test]
fn a_response_is_invisible_to_other_keys() {
    let machine = Machine::configured(&format!("[server]\napi_keys = [\"one\", \"two\"]\n{ECHO}"));
    let proxy = machine.serve();
    let post = |key: &str, body: &Value| {
        proxy.send(&Request::post("/v1/responses", body.to_string()).header("authorization", &format!("Bearer {key}")))
    };
    let id = id_of(&post("one", &ask("secret")));
    let message = post("one", &ask("x")).json()["output"][0]["id"].clone();
    let path = format!("/v1/responses/{id}");
    let get = |header: &str, value: &str, path: &str| proxy.send(&Request::get(path).header(header, value)).status;
    assert_eq!([get("authorization", "Bearer one", &path), get("x-api-key", "one", &path)], [200, 200]);
    assert_eq!(proxy.get(&format!("{path}?key=one")).status, 200);
    for other in [
        get("authorization", "Bearer two", &path),
        get("x-api-key", "two", &path),
        proxy.get(&format!("{path}?key=two")).status,
    ] {
        assert_eq!(other, 404);
    }
    // A wrong key beside a right one does not open anything.
    let both = Request::get(&path).header("authorization", "Bearer two").header("x-api-key", "one-but-wrong");
    assert_eq!(proxy.send(&both).status, 404);
    assert_eq!(post("two", &with(ask("more"), "previous_response_id", id.clone())).status, 400);
    let reference = json!({"model": "echo", "input": [{"type": "item_reference", "id": message}, "more"]});
    assert_eq!((post("two", &reference).status, post("one", &reference).status), (400, 200));
    for request in
        [delete(&path), Request::get(&format!("{path}/input_items")), Request::post(&format!("{path}/cancel"), "")]
    {
        assert_eq!(proxy.send(&request.header("authorization", "Bearer two")).status, 404);
    }
    assert_eq!(get("authorization", "Bearer one", &path), 200);
}

#[test]
fn what_was_used_the_longest_time_ago_is_forgotten_first() {
    for limit in ["stored_responses = 2", "stored_bytes = \"5 KiB\""] {
        let machine = Machine::configured(&format!("{ECHO}[limits]\n{limit}\n"));
        let proxy = machine.serve();
        let stored = |id: &String| proxy.get(&format!("/v1/responses/{id}")).status == 200;
        let first = id_of(&proxy.respond(&ask("one")));
        let second = id_of(&proxy.respond(&ask("two")));
        assert!(stored(&second) && stored(&first), "{limit}");
        let third = id_of(&proxy.respond(&ask("three")));
        assert_eq!([&first, &second, &third].map(stored), [true, false, true], "{limit}");
    }
    let machine = Machine::configured(&format!("{ECHO}[limits]\nstored_responses = 0\n"));
    let proxy = machine.serve();
    let none = id_of(&proxy.respond(&ask("one")));
    assert_eq!(proxy.get(&format!("/v1/responses/{none}")).status, 404);
}

#[test]
fn a_conversation_grows_with_each_response_that_belongs_to_it() {
    let (_machine, proxy) = Machine::echo();
    let items = json!([{"role": "user", "content": "before"}, {"role": "assistant", "content": "indeed"}]);
    let body = json!({"items": items, "metadata": {"a": "b"}});
    let conversation = proxy.send(&Request::post("/v1/conversations", body.to_string())).json();
    let id = conversation["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("conv_") && conversation["created_at"].is_u64(), "{conversation}");
    assert_eq!((&conversation["object"], &conversation["metadata"]), (&json!("conversation"), &json!({"a": "b"})));
    let path = format!("/v1/conversations/{id}");
    assert_eq!(proxy.get(&path).json(), conversation);
    let first = proxy.respond(&with(ask("one"), "conversation", id.clone())).json();
    assert!(output_text(&first).contains("indeed"), "{first}");
    assert_eq!(first["conversation"], json!({"id": id}));
    // The response itself need not be stored.
    let body = with(with(ask("two"), "conversation", json!({"id": id})), "store", false);
    let second = proxy.response_events(&with(body, "stream", true)).pop().unwrap()["response"].take();
    assert!(output_text(&second).contains("one"), "{second}");
    let list = proxy.get(&format!("{path}/items?order=asc")).json();
    let roles: Vec<&str> = list["data"].as_array().unwrap().iter().map(|item| item["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user", "assistant"]);
    let deleted = proxy.send(&delete(&path)).json();
    assert_eq!(deleted, json!({"id": id, "object": "conversation.deleted", "deleted": true}));
    assert_eq!(error_of(&proxy.get(&path)), (404, json!("conversation_not_found"), Value::Null));
    assert_eq!(proxy.get(&response_path(&first)).status, 200);
    let empty = proxy.send(&Request::post("/v1/conversations", "{}"));
    assert_eq!((empty.status, &empty.json()["metadata"]), (200, &json!({})));
}

/// Starts a run in the background that prints `first`, and waits for a file before it prints the rest.
fn in_background(machine: &Machine, stream: bool) -> (Proxy, String) {
    let open = machine.name("open");
    machine.stand_in("cli", &["gate", &open, "first", " last"]);
    let proxy = machine.serve();
    let body = json!({"model": "m", "input": "hi", "background": true, "stream": stream});
    (proxy, body.to_string())
}

#[test]
fn a_response_in_the_background_is_polled_until_it_has_ended() {
    let machine = Machine::configured(CONFIG);
    let (proxy, body) = in_background(&machine, false);
    let started = proxy.send(&Request::post("/v1/responses", body)).json();
    assert!(["queued", "in_progress"].contains(&started["status"].as_str().unwrap()), "{started}");
    assert_eq!((&started["background"], &started["output"]), (&json!(true), &json!([])));
    let path = response_path(&started);
    wait_for("the run to start", || proxy.get(&path).json()["status"] == "in_progress");
    let continued = json!({"model": "m", "input": "hi", "previous_response_id": started["id"]});
    assert_eq!(error_of(&proxy.respond(&continued)).1, "previous_response_not_found");
    fs::write(machine.path("open"), "").unwrap();
    wait_for("the end", || proxy.get(&path).json()["status"] == "completed");
    let ended = proxy.get(&path).json();
    assert_eq!((output_text(&ended).as_str(), &ended["id"]), ("first last", &started["id"]));
    assert_eq!(proxy.respond(&continued).status, 200);
    let list = proxy.get(&format!("{path}/input_items")).json();
    assert_eq!(list["data"][0]["content"][0]["text"], "hi");
}

#[test]
fn the_events_of_a_background_response_are_read_again_from_any_number_on() {
    let machine = Machine::configured(CONFIG);
    let (proxy, body) = in_background(&machine, true);
    let (head, mut events) = proxy.events(&Request::post("/v1/responses", body));
    assert_eq!(head.status, 200, "{head:?}");
    let mut seen: Vec<Value> = Vec::new();
    while seen.last().is_none_or(|event| event["delta"] != "first") {
        seen.extend(event(events.next().expect("an event")));
    }
    let path = response_path(&seen[0]["response"]);
    // The client goes away, and the run continues.
    drop(events);
    let last = seen.last().unwrap()["sequence_number"].as_u64().unwrap();
    let (_, resumed) = proxy.events(&Request::get(&format!("{path}?stream=true&starting_after={last}")));
    fs::write(machine.path("open"), "").unwrap();
    seen.extend(resumed.filter_map(event));
    assert!((0_u64..).zip(&seen).all(|(number, event)| event["sequence_number"] == number), "{seen:?}");
    assert_eq!(kinds(&seen).last(), Some(&"response.completed"));
    assert_eq!(seen.last().unwrap()["response"], proxy.get(&path).json());
    let again: Vec<Value> = proxy.events(&Request::get(&format!("{path}?stream=true"))).1.filter_map(event).collect();
    assert_eq!(again, seen);
    let behind = format!("{path}?stream=true&starting_after={}", seen.len());
    assert_eq!(proxy.events(&Request::get(&behind)).1.count(), 0);
    assert_eq!(error_of(&proxy.get(&format!("{path}?stream=true&starting_after=x"))).2, "starting_after");
}

#[test]
fn a_reader_of_a_silent_background_response_gets_signs_of_life() {
    let machine = Machine::configured(&(CONFIG.to_owned() + "[limits]\nkeep_alive = \"20ms\"\n"));
    let (proxy, body) = in_background(&machine, true);
    let (_, mut events) = proxy.events(&Request::post("/v1/responses", body));
    let mut alive = 0;
    while alive < 3 {
        let event = event(events.next().expect("an event")).unwrap();
        alive += usize::from(event["type"] == "keepalive");
    }
    fs::write(machine.path("open"), "").unwrap();
    let rest: Vec<Value> = events.filter_map(event).collect();
    assert_eq!(output_text(&rest.last().unwrap()["response"]), "first last");
}

#[test]
fn events_that_are_not_kept_are_an_error_of_the_stream_and_the_response_stays() {
    let machine = Machine::configured(&(CONFIG.to_owned() + "[limits]\nanswer_buffer = \"4 KiB\"\n"));
    let (proxy, body) = in_background(&machine, false);
    let started = proxy.send(&Request::post("/v1/responses", body)).json();
    let path = response_path(&started);
    fs::write(machine.path("open"), "").unwrap();
    wait_for("the end", || proxy.get(&path).json()["status"] == "completed");
    let events: Vec<Value> = proxy.events(&Request::get(&format!("{path}?stream=true"))).1.filter_map(event).collect();
    assert_eq!((kinds(&events), &events[0]["code"]), (vec!["error"], &json!("events_not_kept")));
    let not_kept = proxy.respond(&json!({"model": "m", "input": "hi"})).json();
    let refused = proxy.get(&(response_path(&not_kept) + "?stream=true"));
    assert_eq!(error_of(&refused), (400, json!("events_not_kept"), json!("stream")));
}

#[test]
fn a_cancelled_response_ends_its_processes_and_is_shown_as_cancelled() {
    let machine = Machine::configured(CONFIG);
    let processes = machine.hanging("cli", "I am here");
    let proxy = machine.serve();
    for way in ["cancel", "delete"] {
        for file in &processes {
            let _none = fs::remove_file(file);
        }
        let body = json!({"model": "m", "input": way, "background": true, "stream": true});
        let (_, mut events) = proxy.respond_in_stream(&body);
        let started = event(events.next().expect("an event")).unwrap()["response"].take();
        assert!(events.any(|item| event(item).is_some_and(|event| event["delta"] == "I am here")));
        let path = response_path(&started);
        if way == "cancel" {
            // Without a body, as the client for JavaScript sends it.
            let answer = proxy.send(&Request::get(&format!("{path}/cancel")).method("POST"));
            let response = answer.json();
            assert_eq!(
                (answer.status, &response["status"], &response["error"]),
                (200, &json!("cancelled"), &Value::Null)
            );
            assert_eq!(output_text(&response), "I am here");
            assert_eq!(proxy.get(&path).json(), response);
            // Once more changes nothing.
            assert_eq!(proxy.send(&Request::post(&format!("{path}/cancel"), "")).json(), response);
        } else {
            assert_eq!(proxy.send(&delete(&path)).status, 200);
            assert_eq!(proxy.get(&path).status, 404);
        }
        let rest: Vec<Value> = events.filter_map(event).collect();
        assert_eq!(kinds(&rest), ["response.failed"]);
        assert_eq!(rest[0]["response"]["status"], "cancelled");
        for file in &processes {
            wait_for("the end of a process", || !is_alive(file));
        }
        proxy.wait_until_idle();
        assert_eq!(proxy.get(&path).status == 200, way == "cancel");
    }
    machine.script("cli", "cat >/dev/null; echo done");
    let whole = proxy.respond(&json!({"model": "m", "input": "hi"})).json();
    let refused = proxy.send(&Request::post(&(response_path(&whole) + "/cancel"), ""));
    assert_eq!(error_of(&refused), (400, json!("not_in_background"), Value::Null));
}

#[test]
fn a_stop_of_the_proxy_ends_a_run_in_the_background() {
    let machine = Machine::configured(&(CONFIG.to_owned() + "[server]\nshutdown_timeout = 0\n"));
    let processes = machine.hanging("cli", "I am here");
    let proxy = machine.serve();
    let body = json!({"model": "m", "input": "hi", "background": true});
    assert_eq!(proxy.respond(&body).status, 200);
    wait_for("the CLI to start", || processes.iter().all(|file| file.exists()));
    assert_eq!(proxy.stop().code(), Some(0));
    assert!(!processes.iter().any(|file| is_alive(file)));
}
