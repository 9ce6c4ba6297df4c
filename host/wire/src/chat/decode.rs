//! Decodes a request: the model, the conversation, and the form of the answer.

use agentbay_domain::Conversation;

use crate::body;
use crate::conversation::{self, Field};
use crate::malformed::Malformed;
use crate::raw::Raw;
use crate::tool_choice;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// The name of the model.
    pub model: String,
    /// The conversation to answer.
    pub conversation: Conversation,
    /// The options of a streamed answer; `None` for a whole one.
    pub stream: Option<StreamOptions>,
}

/// The options of a streamed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamOptions {
    /// Whether the last chunk has the usage.
    pub include_usage: bool,
}

/// Decodes a request. Unknown keys are ignored.
///
/// # Errors
/// See [`Malformed`].
pub fn decode(body: &[u8]) -> Result<ChatRequest, Malformed> {
    let json = body::json(body, "`model` and `messages`")?;
    let body = json.value();
    let [model, messages, stream, options] = body.fields(["model", "messages", "stream", "stream_options"]);
    let [n, tool_choice] = body.fields(["n", "tool_choice"]);
    let model = body::model(model)?;
    if n.is_some_and(|n| n.number() != Some(1.0)) {
        return Err(Malformed::field("n", "an agent gives one answer: leave `n` out, or set it to 1"));
    }
    tool_choice::require_free(tool_choice)?;
    let stream = body::stream(stream)?;
    let include_usage = options.and_then(|options| options.field("include_usage")).and_then(Raw::flag);
    let stream = stream.then_some(StreamOptions { include_usage: include_usage.unwrap_or(false) });
    let conversation = conversation::read(Vec::new(), messages, MESSAGES)?;
    Ok(ChatRequest { model, conversation, stream })
}

const MESSAGES: Field = Field {
    name: "messages",
    missing: "`messages` is missing: send a list with at least one message of the role `user`",
};

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn decoded(body: &Value) -> Result<ChatRequest, String> {
        let refused = |error: Malformed| format!("\"param\":{} {}", json!(error.param), error.message);
        decode(body.to_string().as_bytes()).map_err(refused)
    }

    #[test]
    fn fields_that_are_unknown_null_or_loosely_typed_are_accepted() {
        let plain = json!({"model": "m", "messages": "hi"});
        for (key, value) in [
            ("temperature", json!("hot")),
            ("n", json!("1")),
            ("n", json!(1.0)),
            ("n", Value::Null),
            ("stream", Value::Null),
            ("stream", json!("false")),
            ("stream", json!(0)),
            ("stream_options", json!([])),
            ("tools", json!([{"type": "weird"}])),
            ("tool_choice", json!({"type": "auto"})),
            ("future", json!({})),
        ] {
            let mut body = plain.clone();
            body[key] = value;
            let read = decoded(&body).unwrap();
            assert!(read.stream.is_none(), "{body}");
        }
        for (stream, usage) in [(json!(true), json!(true)), (json!("True"), json!("yes")), (json!(1), json!(1.0))] {
            let body =
                json!({"model": "m", "messages": "hi", "stream": stream, "stream_options": {"include_usage": usage}});
            assert_eq!(decoded(&body).unwrap().stream, Some(StreamOptions { include_usage: true }), "{body}");
        }
    }

    #[test]
    fn an_unsupported_request_is_refused_with_the_name_of_the_field() {
        let user = json!([{"role": "user", "content": "hi"}]);
        let image = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]);
        for (body, param, says) in [
            (json!({"messages": user}), "\"model\"", "`model` is missing"),
            (json!({"model": 7, "messages": user}), "\"model\"", "`model` is missing"),
            (json!({"model": "m", "messages": user, "n": 2}), "\"n\"", "one answer"),
            (json!({"model": "m", "messages": user, "n": "many"}), "\"n\"", "one answer"),
            (json!({"model": "m", "messages": user, "stream": {}}), "\"stream\"", "neither true nor false"),
            (json!({"model": "m", "messages": user, "tool_choice": "required"}), "\"tool_choice\"", "own tools"),
            (json!({"model": "m"}), "\"messages\"", "`messages` is missing"),
            (json!({"model": "m", "messages": 1}), "\"messages\"", "`messages` is missing"),
            (json!({"model": "m", "messages": []}), "\"messages\"", "empty"),
            (json!({"model": "m", "messages": [{"role": "robot", "content": "hi"}]}), "\"messages\"", "`robot`"),
            (json!({"model": "m", "messages": [{"content": "hi"}]}), "\"messages\"", "messages[0] has no `role`"),
            (json!({"model": "m", "messages": image}), "\"messages\"", "`image_url`"),
            (json!([]), "null", "not a JSON object"),
            (json!("x"), "null", "not a JSON object"),
        ] {
            let refused = decoded(&body).unwrap_err();
            assert!(refused.contains(&format!("\"param\":{param}")) && refused.contains(says), "{refused}");
            for word in ["untagged", "enum", "u64", "struct", "invalid type", "expected a"] {
                assert!(!refused.contains(word), "{refused}");
            }
        }
    }
}
