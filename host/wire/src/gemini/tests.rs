//! The recorded requests of clients of this surface.

use agentbay_domain::{AnswerFormat, Ask};
use serde_json::{Value, json};

use super::*;
use crate::recordings::{compare, shown};

#[test]
fn recorded_requests_are_decoded_as_reviewed() {
    compare(&["gemini-cli-", "google-genai-"], |path, body| {
        let (_, method) = Method::split(path.split('?').next().unwrap())?;
        Some(match method {
            Method::CountTokens => match count_tokens(body) {
                Ok(tokens) => json!({"tokens": tokens}),
                Err(refused) => json!({"refused": refused.to_string()}),
            },
            Method::Generate | Method::Stream => decoded(body),
        })
    });
}

fn decoded(body: &[u8]) -> Value {
    let GenerateRequest { conversation, ask: Ask { format, stop, max_output }, thoughts } = match decode(body) {
        Ok(request) => request,
        Err(refused) => return json!({"refused": refused.to_string()}),
    };
    let format = match format {
        AnswerFormat::Text => Value::Null,
        AnswerFormat::Json => "json".into(),
        AnswerFormat::Schema(schema) => serde_json::from_str(&schema.json).unwrap(),
    };
    json!({
        "messages": shown(&conversation),
        "format": format,
        "stop": stop,
        "max_output": max_output,
        "thoughts": thoughts,
    })
}
