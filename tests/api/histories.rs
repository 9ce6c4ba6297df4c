//! Histories as clients might send them: recorded ones, changed at random in types, order, nesting and spelling. None is an
//! error of the server, most are answered, and all their text reaches the agent.

use std::cell::Cell;
use std::fs;

use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::support::{Machine, Proxy, Request, fixtures};

const CASES: u32 = 500;

/// A placeholder for half of a surrogate pair, which no string of Rust can hold.
const HALF: &str = "@half@";

/// A placeholder for a number that no parser can represent.
const HUGE: &str = "@huge@";

/// The keys of text, and the keys of values that contain such keys.
const SAYING: [&str; 8] = ["text", "content", "arguments", "output", "thinking", "refusal", "reasoning_content", "cmd"];
const HOLDING: [&str; 13] = [
    "content",
    "parts",
    "summary",
    "output",
    "response",
    "input",
    "args",
    "arguments",
    "tool_calls",
    "function",
    "functionCall",
    "functionResponse",
    "text",
];

/// One change: which, and where.
type Change = (usize, usize);

const CHANGES: [fn(&mut Vec<Value>, usize); 20] = [
    |messages, at| content(messages, at, |value| json!([{"type": "text", "text": value}])),
    |messages, at| content(messages, at, |value| json!({"type": "input_text", "text": value})),
    |messages, at| content(messages, at, |value| json!([value])),
    |messages, at| content(messages, at, |value| json!([[[value]]])),
    |messages, at| {
        content(messages, at, |value| value.as_array().and_then(|parts| parts.first()).cloned().unwrap_or(value))
    },
    |messages, at| {
        content(messages, at, |value| json!([value, {"type": "hologram", "payload": [HUGE, -0.0, u64::MAX]}]))
    },
    |messages, at| content(messages, at, |value| json!([{"type": "image_url", "image_url": {"url": "data:,"}}, value])),
    |messages, at| {
        content(messages, at, |value| json!([value, null, 7, {"type": "text"}, {"type": "text", "text": null}]))
    },
    |messages, at| change(messages, at, |message| spell(message, "role", |role| role.to_uppercase())),
    |messages, at| change(messages, at, |message| spell(message, "role", |role| role.replace("assistant", "model"))),
    |messages, at| change(messages, at, |message| set(message, "role", json!("narrator"))),
    |messages, at| change(messages, at, |message| set(message, "future", json!({"deep": [HUGE], "x": HALF}))),
    |messages, at| change(messages, at, |message| set(message, "name", Value::Null)),
    |messages, at| change(messages, at, |message| every_object(message, &mut forget_ids)),
    |messages, at| change(messages, at, |message| every_object(message, &mut number_ids)),
    |messages, at| change(messages, at, |message| every_object(message, &mut respell_arguments)),
    |messages, at| change(messages, at, |message| set(message, "reasoning_content", json!("hm"))),
    |messages, at| messages.insert(at % messages.len(), json!({"role": "narrator", "content": "meanwhile"})),
    |messages, at| {
        let at = at % messages.len();
        messages.swap(0, at);
    },
    |messages, at| messages.push(messages[at % messages.len()].clone()),
];

fn change(messages: &mut [Value], at: usize, change: impl Fn(&mut Value)) {
    let at = at % messages.len();
    change(&mut messages[at]);
}

fn content(messages: &mut [Value], at: usize, change: impl Fn(Value) -> Value) {
    let at = at % messages.len();
    for key in ["content", "parts", "output"] {
        if let Some(value) = messages[at].get_mut(key).filter(|value| !value.is_null()) {
            *value = change(value.take());
        }
    }
}

fn set(message: &mut Value, key: &str, value: Value) {
    if let Some(fields) = message.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
}

fn spell(message: &mut Value, key: &str, respell: impl Fn(&str) -> String) {
    if let Some(given) = message.get(key).and_then(Value::as_str).map(respell) {
        set(message, key, given.into());
    }
}

fn every_object(value: &mut Value, change: &mut impl FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| every_object(item, change)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| every_object(field, change));
            change(value);
        }
        _ => {}
    }
}

const IDS: [&str; 5] = ["id", "call_id", "tool_call_id", "tool_use_id", "signature"];

fn forget_ids(object: &mut Value) {
    let fields = object.as_object_mut().unwrap();
    fields.retain(|key, _| !IDS.contains(&key.as_str()));
}

fn number_ids(object: &mut Value) {
    for id in IDS {
        if object.get(id).is_some() {
            set(object, id, json!(3.0));
        }
    }
}

fn respell_arguments(object: &mut Value) {
    let arguments = object.get("arguments").cloned();
    match arguments {
        Some(Value::String(text)) => set(object, "arguments", serde_json::from_str(&text).unwrap_or(json!(text))),
        Some(other) => set(object, "arguments", other.to_string().into()),
        None => {}
    }
}

/// Every text of a message, in order.
fn texts<'a>(value: &'a mut Value, key: &str, found: &mut Vec<&'a mut String>) {
    match value {
        Value::String(text) if SAYING.contains(&key) => found.push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts(item, key, found)),
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                if HOLDING.contains(&key.as_str()) || SAYING.contains(&key.as_str()) {
                    texts(field, key, found);
                }
            }
        }
        _ => {}
    }
}

/// Plants words in some of the texts, and returns them. A text that is JSON gets them in one of its strings.
fn plant(messages: &mut [Value], at: &[usize]) -> Vec<String> {
    let mut found = Vec::new();
    for message in messages {
        texts(message, "", &mut found);
    }
    let mut planted = Vec::new();
    for (number, at) in at.iter().enumerate() {
        let Some(count) = found.len().checked_sub(1) else { break };
        let word = format!("planted{number}x");
        let text = &mut found[at % (count + 1)];
        match text.strip_suffix("\"}") {
            Some(start) => **text = format!("{start} {word}\"}}"),
            None => **text += &format!(" {word}{HALF}"),
        }
        planted.push(word);
    }
    planted
}

/// The body of a request, with the placeholders replaced.
fn body(messages: &[Value], stream: usize) -> String {
    let spelling = ["false", "\"False\"", "0", "null"][stream % 4];
    let messages = Value::from(messages.to_vec()).to_string();
    let messages = messages.replace(&format!("\"{HUGE}\""), "1e999").replace(HALF, "\\ud83d");
    format!(
        "{{\"model\": \"echo\", \"stream\": {spelling}, \"temperature\": NaN, \"n\": \"1\", \"messages\": {messages}}}"
    )
}

/// Returns whether a history was answered. If it was, all planted words have reached the agent.
fn answered(proxy: &Proxy, body: &str, planted: &[String]) -> Result<bool, TestCaseError> {
    let fail = |what: &str| Err(TestCaseError::fail(format!("{what}: {body}")));
    let answer = proxy.send(&Request::post("/v1/chat/completions", body));
    if answer.status == 400 {
        let rust =
            ["untagged", "invalid type", "u64", "expected a"].into_iter().find(|word| answer.body.contains(word));
        return rust.map_or(Ok(false), |word| fail(&format!("{word} in {}", answer.body)));
    }
    if answer.status != 200 {
        return fail(&format!("{answer:?}"));
    }
    let prompt = answer.content();
    match planted.iter().find(|word| !prompt.contains(*word)) {
        Some(lost) => fail(&format!("{lost} is not in {prompt:?}")),
        None => Ok(true),
    }
}

#[test]
fn five_hundred_changed_histories_are_answered_or_refused_and_nothing_in_them_is_lost() {
    let recorded = fs::read_to_string(fixtures().join("histories.jsonl")).unwrap();
    let recorded: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let machine = Machine::configured("[models.echo]\ndriver = \"echo\"\nrepo = \".\"\nchores = \"run\"\n");
    let proxy = machine.serve();
    let (tried, found) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: CASES, failure_persistence: None, max_shrink_iters: 100, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let anywhere = || 0..1_000_usize;
    let changes = vec((0..CHANGES.len(), anywhere()), 0..8);
    let history = (0..recorded.len(), changes, vec(anywhere(), 0..5), anywhere());
    let check = |(of, changes, at, stream): (usize, Vec<Change>, Vec<usize>, usize)| {
        let mut messages = recorded[of]["messages"].as_array().unwrap().clone();
        for (change, at) in changes {
            CHANGES[change](&mut messages, at);
        }
        let planted = plant(&mut messages, &at);
        let answered = answered(&proxy, &body(&messages, stream), &planted)?;
        tried.set(tried.get() + 1);
        found.set(found.get() + u32::from(answered));
        Ok(())
    };
    runner.run(&history, check).unwrap();
    assert_eq!(tried.get(), CASES);
    assert!(found.get() >= CASES / 2, "{} of {CASES} were answered", found.get());
}
