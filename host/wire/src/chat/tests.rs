//! The recorded requests of clients of this surface.

use agentbay_domain::{AnswerFormat, Ask};
use serde_json::{Value, json};

use super::*;
use crate::recordings::{compare_with, shown};

const CLIENTS: [&str; 11] = [
    "ai-sdk-compat-",
    "ai-sdk-openai-chat",
    "openai-agents-chat",
    "openai-js",
    "openai-py-chat-structured",
    "librechat-title",
    "open-webui-chores",
    "opencode-",
    "qwen-code-",
    "copilot-cli-",
    "continue-cli-",
];

#[test]
fn recorded_requests_are_decoded_as_reviewed() {
    compare_with("decoded/chat", &CLIENTS, |path, body| path.ends_with("/chat/completions").then(|| decoded(body)));
}

fn decoded(body: &[u8]) -> Value {
    let ChatRequest { model, conversation, ask, call, stream, ignored } = match decode(body) {
        Ok(request) => request,
        Err(refused) => return json!({"refused": refused.to_string()}),
    };
    let Ask { format, stop, max_output } = ask;
    let format = match format {
        AnswerFormat::Text => Value::Null,
        AnswerFormat::Json => "json".into(),
        AnswerFormat::Schema(schema) => {
            json!({"name": schema.name, "schema": serde_json::from_str::<Value>(&schema.json).unwrap()})
        }
    };
    json!({
        "model": model,
        "messages": shown(&conversation),
        "format": format,
        "call": call.map(|call| call.name),
        "stop": stop,
        "max_output": max_output,
        "stream": stream.map(|options| options.include_usage),
        "ignored": ignored,
    })
}
