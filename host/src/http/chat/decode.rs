//! From the wire to a request: which model, what was said, and how the answer is wanted.

use super::wire::{ChatRequest, Content, Part, StreamOptions, WireMessage, WireToolCall};
use crate::domain::{Message, Role, SessionId};
use crate::http::error::ApiError;
use crate::run::Request;

/// A request, and how its answer is to be streamed if it is.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) request: Request,
    pub(super) stream: Option<StreamOptions>,
}

/// Reads a request.
pub(super) fn decode(wire: ChatRequest, session: Option<SessionId>) -> Result<Decoded, ApiError> {
    if wire.n.is_some_and(|n| n != 1) {
        return Err(ApiError::bad_field("n", "an agent gives one answer: leave `n` out, or set it to 1"));
    }
    if let Some(choice) = &wire.tool_choice
        && (choice.is_object() || choice == "required")
    {
        let message = "an agent uses its own tools and cannot be made to call the client's: leave `tool_choice` out";
        return Err(ApiError::bad_field("tool_choice", message));
    }
    let stream = wire.stream.unwrap_or(false).then(|| wire.stream_options.unwrap_or_default());
    let messages = wire.messages.into_iter().map(message).collect::<Result<Vec<_>, _>>()?;
    let conversation = messages.try_into()?;
    let request = Request { model: wire.model, conversation, partial: stream.is_some(), session };
    Ok(Decoded { request, stream })
}

fn message(wire: WireMessage) -> Result<Message, ApiError> {
    let role = match wire.role.as_str() {
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        other => {
            let message = format!("there is no role `{other}`: use system, developer, user, assistant or tool");
            return Err(ApiError::bad_field("messages", message));
        }
    };
    let mut texts = match wire.content {
        None => Vec::new(),
        Some(Content::Text(text)) => vec![text],
        Some(Content::Parts(parts)) => parts.into_iter().map(part).collect::<Result<_, _>>()?,
    };
    texts.extend(wire.tool_calls.unwrap_or_default().into_iter().filter_map(tool_call));
    Ok(Message { role, text: texts.join("\n") })
}

fn part(part: Part) -> Result<String, ApiError> {
    match (part.kind.as_str(), part.text, part.refusal) {
        ("text", Some(text), _) | ("refusal", _, Some(text)) => Ok(text),
        (kind, _, _) => {
            let message = format!("a part of the type `{kind}` cannot be given to a CLI: send text");
            Err(ApiError::bad_field("messages", message))
        }
    }
}

/// A call of a client's tool, so that the agent can make sense of the result that follows.
fn tool_call(call: WireToolCall) -> Option<String> {
    call.function.map(|function| format!("[called {} with {}]", function.name, function.arguments))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decoded(body: serde_json::Value) -> Result<Decoded, String> {
        decode(serde_json::from_value(body).unwrap(), None).map_err(|error| error.to_json())
    }

    fn messages(messages: &serde_json::Value) -> Vec<Message> {
        decoded(json!({"model": "m", "messages": messages})).unwrap().request.conversation.messages().to_vec()
    }

    #[test]
    fn every_role_and_both_forms_of_content_are_read() {
        let read = messages(&json!([
            {"role": "system", "content": "s"},
            {"role": "developer", "content": [{"type": "text", "text": "d"}]},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ]},
            {"role": "tool", "content": "result", "tool_call_id": "1"},
        ]));
        let expected = [
            (Role::System, "s"),
            (Role::Developer, "d"),
            (Role::User, "a\nb"),
            (Role::Assistant, "[called f with {}]"),
            (Role::Tool, "result"),
        ];
        assert_eq!(read, expected.map(|(role, text)| Message { role, text: text.to_owned() }));
    }

    #[test]
    fn fields_that_are_not_known_or_null_do_no_harm() {
        let body = json!({
            "model": "m", "messages": [{"role": "user", "content": "hi", "name": "x"}], "temperature": 1, "n": 1,
            "stream": null, "stream_options": null, "tools": [{"type": "weird"}], "tool_choice": "auto", "future": {},
        });
        let read = decoded(body).unwrap();
        assert!(read.stream.is_none() && !read.request.partial);
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_the_field_named() {
        let user = json!([{"role": "user", "content": "hi"}]);
        for (body, param, says) in [
            (json!({"model": "m", "messages": user, "n": 2}), "n", "one answer"),
            (json!({"model": "m", "messages": user, "tool_choice": "required"}), "tool_choice", "own tools"),
            (json!({"model": "m", "messages": []}), "messages", "empty"),
            (json!({"model": "m", "messages": [{"role": "robot", "content": "hi"}]}), "messages", "`robot`"),
            (
                json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}),
                "messages",
                "`image_url`",
            ),
        ] {
            let refused = decoded(body).unwrap_err();
            assert!(refused.contains(&format!("\"param\":\"{param}\"")) && refused.contains(says), "{refused}");
        }
    }
}
