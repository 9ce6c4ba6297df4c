//! The recorded requests of Anthropic's clients, sent as they are: each is answered, or refused as its golden file says.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Answer, Machine, Request, StreamItem, fixtures};

/// Headers that belong to a connection.
const OF_CONNECTION: [&str; 4] = ["host", "connection", "content-length", "accept-encoding"];

fn read(file: &str) -> Option<Value> {
    let text = fs::read_to_string(fixtures().join("requests").join(file)).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

/// The names of the recordings of this surface's clients.
fn recordings() -> Vec<String> {
    let files = fs::read_dir(fixtures().join("requests")).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("anthropic-") || name.starts_with("claude-code-"));
    names.sort();
    names
}

fn request(recorded: &Value) -> Request {
    let text = |key: &str| recorded[key].as_str().unwrap();
    let body = if recorded["body"].is_null() { String::new() } else { recorded["body"].to_string() };
    let headers = recorded["headers"].as_array().unwrap().iter();
    let headers = headers.map(|header| (header[0].as_str().unwrap().to_lowercase(), header[1].as_str().unwrap()));
    let headers = headers.filter(|(name, _)| !OF_CONNECTION.contains(&name.as_str()));
    let request = Request::post(text("path"), body).method(text("method"));
    headers.fold(request, |request, (name, value)| request.header(&name, value))
}

/// Checks the answer to a request that can be answered.
fn check(recorded: &Value, answer: &Answer) {
    let path = recorded["path"].as_str().unwrap().split('?').next().unwrap();
    match (recorded["method"].as_str().unwrap(), path) {
        ("HEAD", _) => assert_eq!((answer.status, answer.body.as_str()), (200, "")),
        (_, "/v1/models") => assert_eq!((answer.status, &answer.json()["has_more"]), (200, &false.into())),
        (_, "/v1/messages/count_tokens") => assert!(answer.json()["input_tokens"].as_u64() > Some(0), "{answer:?}"),
        (_, "/v1/messages/batches") => assert_eq!((answer.status, &answer.json()["type"]), (404, &"error".into())),
        (_, "/v1/messages") => assert_eq!((answer.status, &answer.json()["stop_reason"]), (200, &"end_turn".into())),
        other => panic!("no recording has {other:?}"),
    }
}

#[test]
fn recorded_requests_of_anthropic_s_clients_are_answered_or_refused_as_reviewed() {
    let models =
        ["claude-x", "claude-opus-5-5", "my-agent"].map(|name| format!("[models.{name}]\ndriver = \"echo\"\n"));
    let machine = Machine::configured(&format!("[defaults]\nrepo = \".\"\n{}", models.concat()));
    let proxy = machine.serve();
    let mut count = 0;
    for name in recordings() {
        let recording = read(&name).unwrap();
        let golden = read(&format!("decoded/{name}")).unwrap_or(json!([]));
        let mut decoded = golden.as_array().unwrap().iter();
        for recorded in recording["requests"].as_array().unwrap() {
            let decoded = if recorded["method"] == "POST" { &decoded.next().unwrap()["decoded"] } else { &Value::Null };
            if let Some(refused) = decoded["refused"].as_str() {
                let answer = proxy.send(&request(recorded));
                assert_eq!((answer.status, &answer.json()["error"]["message"]), (400, &refused.into()), "{name}");
            } else if !decoded["format"].is_null() {
                // The title of a session is a chore. Otherwise the model repeats the prompt, which is no JSON.
                let (is_chore, answer) = (name.contains("title"), proxy.send(&request(recorded)));
                assert_eq!(answer.header("x-agentbay-chore").is_some(), is_chore, "{name}: {answer:?}");
                let end = if is_chore { "{\"type\":\"message_stop\"}" } else { "{\"type\":\"error\",\"error\":" };
                assert!(answer.body.contains(end), "{name}: {answer:?}");
            } else if decoded["stream"] == true {
                let (head, events) = proxy.events(&request(recorded));
                let last = events.last();
                let end = StreamItem::Named("message_stop".to_owned(), "{\"type\":\"message_stop\"}".to_owned());
                assert_eq!((head.status, last), (200, Some(end)), "{name}");
            } else {
                check(recorded, &proxy.send(&request(recorded)));
            }
            count += 1;
        }
    }
    assert!(count >= 35, "only {count} requests were sent");
}
