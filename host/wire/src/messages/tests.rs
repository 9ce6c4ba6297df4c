//! The recorded requests of clients of this surface.

use agentbay_domain::{AnswerFormat, Ask};
use serde_json::{Value, json};

use super::*;
use crate::recordings::{compare, shown};

#[test]
fn recorded_requests_are_decoded_as_reviewed() {
    compare(&["anthropic-", "claude-code-"], |path, body| match path.split('?').next().unwrap() {
        "/v1/messages" => Some(decoded(body)),
        "/v1/messages/count_tokens" => Some(match decode_count(body) {
            Ok(CountRequest { model, input_tokens }) => json!({"model": model, "input_tokens": input_tokens}),
            Err(refused) => json!({"refused": refused.to_string()}),
        }),
        _ => None,
    });
}

fn decoded(body: &[u8]) -> Value {
    match decode(body) {
        Ok(MessagesRequest { model, conversation, ask, call, stream, thinking, input_tokens, ignored }) => {
            let Ask { format, stop, max_output } = ask;
            let format = match format {
                AnswerFormat::Text => Value::Null,
                AnswerFormat::Json => "json".into(),
                AnswerFormat::Schema(schema) => serde_json::from_str(&schema.json).unwrap(),
            };
            json!({
                "model": model,
                "messages": shown(&conversation),
                "format": format,
                "call": call,
                "stop": stop,
                "max_output": max_output,
                "stream": stream,
                "thinking": thinking,
                "input_tokens": input_tokens,
                "ignored": ignored,
            })
        }
        Err(refused) => json!({"refused": refused.to_string()}),
    }
}
