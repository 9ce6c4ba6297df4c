//! A request for the number of tokens, and its estimate from the lengths of the texts.

use agentbay_domain::Message;
use serde::Serialize;

use super::decode::MESSAGES;
use crate::body;
use crate::conversation;
use crate::malformed::Malformed;

/// A request for the number of tokens of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountRequest {
    /// The name of the model.
    pub model: String,
    /// The estimated tokens.
    pub input_tokens: u64,
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct TokenCount {
    /// The estimated tokens.
    pub input_tokens: u64,
}

/// Decodes a request. The conversation needs nothing to answer, and may have parts that no CLI can receive.
///
/// # Errors
/// See [`Malformed`].
pub fn decode_count(body: &[u8]) -> Result<CountRequest, Malformed> {
    let json = body::json(body, "`model` and `messages`")?;
    let body = json.value();
    let [model, messages, system, tools] = body.fields(["model", "messages", "system", "tools"]);
    let model = body::model(model)?;
    let history = conversation::history(messages, MESSAGES)?;
    let messages: Vec<Message> = conversation::instructions(system).into_iter().chain(history).collect();
    Ok(CountRequest { model, input_tokens: conversation::tokens(&messages, tools) })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn counted(body: &Value) -> u64 {
        decode_count(body.to_string().as_bytes()).unwrap().input_tokens
    }

    #[test]
    fn instructions_messages_and_tools_are_counted() {
        let messages = json!([{"role": "user", "content": "12345678"}]);
        assert_eq!(counted(&json!({"model": "m", "messages": messages})), 2);
        assert_eq!(counted(&json!({"model": "m", "messages": messages, "system": [{"text": "1234"}]})), 3);
        let tools = json!([{"name": "f"}]);
        assert_eq!(counted(&json!({"model": "m", "messages": messages, "tools": tools})), 6);
        let spoken = json!([
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "12345678"}]},
        ]);
        assert_eq!(counted(&json!({"model": "m", "messages": spoken})), 4);
    }

    #[test]
    fn a_conversation_that_no_agent_could_answer_is_counted() {
        for messages in [
            json!([]),
            json!([{"role": "assistant", "content": "1234"}]),
            json!([{"role": "robot", "content": "1234"}]),
            json!([{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "x"}}]}]),
        ] {
            assert!(counted(&json!({"model": "m", "messages": messages})) <= 2, "{messages}");
        }
    }

    #[test]
    fn a_request_without_model_or_messages_is_refused() {
        for body in [json!({"messages": "hi"}), json!({"model": "m"})] {
            assert!(decode_count(body.to_string().as_bytes()).is_err(), "{body}");
        }
    }
}
