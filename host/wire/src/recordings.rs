//! Tests of the recorded requests in `fixtures/requests`: what is decoded from each is kept beside it in `decoded`, and is
//! reviewed. `RENEW=1` writes these files.

use std::fs;
use std::path::{Path, PathBuf};

use agentbay_domain::{Block, Conversation, Media, Message};
use serde_json::{Value, json};

/// Compares what is decoded from the recorded requests of some clients with their golden files. `decode` returns `None` for a
/// request of another surface.
pub(crate) fn compare(clients: &[&str], decode: impl Fn(&str, &[u8]) -> Option<Value>) {
    compare_with("decoded", clients, decode);
}

/// The same with the golden files of a folder of their own, for recordings with requests of several surfaces.
pub(crate) fn compare_with(golden: &str, clients: &[&str], decode: impl Fn(&str, &[u8]) -> Option<Value>) {
    for (name, requests) in recordings(clients) {
        let decoded: Vec<Value> = requests
            .into_iter()
            .filter_map(|(path, body)| {
                let decoded = decode(&path, body.to_string().as_bytes())?;
                Some(json!({"path": path, "decoded": decoded}))
            })
            .collect();
        if !decoded.is_empty() {
            compare_file(&folder().join(golden).join(name), &decoded);
        }
    }
}

/// The path and the body of each recorded POST of some clients.
pub(crate) fn requests(clients: &[&str]) -> Vec<(String, Value)> {
    recordings(clients).into_iter().flat_map(|(_, requests)| requests).collect()
}

/// The recordings of some clients, each with its name and its requests.
fn recordings(clients: &[&str]) -> Vec<(String, Vec<(String, Value)>)> {
    let names = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| clients.iter().any(|client| name.starts_with(client))).collect();
    names.sort();
    assert!(!names.is_empty(), "no recordings of {clients:?}");
    let posts = |name: &String| {
        let recording: Value = serde_json::from_str(&fs::read_to_string(folder().join(name)).unwrap()).unwrap();
        let requests = recording["requests"].as_array().unwrap().iter().filter(|request| request["method"] == "POST");
        requests.map(|request| (request["path"].as_str().unwrap().to_owned(), request["body"].clone())).collect()
    };
    names.into_iter().map(|name| (name.clone(), posts(&name))).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/requests")
}

#[expect(clippy::disallowed_methods, reason = "RENEW is a variable of the environment of the tests")]
fn compare_file(golden: &Path, decoded: &[Value]) {
    let text = serde_json::to_string_pretty(decoded).unwrap() + "\n";
    if std::env::var_os("RENEW").is_some() {
        fs::create_dir_all(golden.parent().unwrap()).unwrap();
        fs::write(golden, &text).unwrap();
    }
    let expected = fs::read_to_string(golden).unwrap_or_default();
    assert!(text == expected, "{} differs; RENEW=1 writes it. Now it is decoded as\n{text}", golden.display());
}

/// A conversation, each message as its role and its blocks.
pub(crate) fn shown(conversation: &Conversation) -> Value {
    conversation.messages().iter().map(message).collect()
}

fn message(message: &Message) -> Value {
    json!({message.role.name(): message.blocks.iter().map(block).collect::<Vec<String>>()})
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("text: {}", shortened(text)),
        Block::Context(text) => format!("context: {}", shortened(text)),
        Block::Unknown(text) => format!("unknown: {}", shortened(text)),
        Block::Reasoning(text) => format!("reasoning: {}", shortened(text)),
        Block::Call { id, name, input } => format!("call {id} of {name}: {}", shortened(input)),
        Block::Result { call, name, text, is_error } => {
            let failed = if *is_error { ", failed" } else { "" };
            format!("result of {call} {}{failed}: {}", name.as_deref().unwrap_or_default(), shortened(text))
        }
        Block::Media(Media { mime, content, shown }) => format!("media {mime}: {shown} {content:?}"),
        Block::Attachment { kind, shown } => format!("attachment {kind}: {}", shortened(shown)),
    }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 160;
    let mut short: String = text.chars().take(LONGEST).collect();
    if text.chars().count() > LONGEST {
        short += "…";
    }
    short
}
