//! Decodes a request: the model, the conversation, and the form of the answer.

use agentbay_domain::{AnswerFormat, Ask, Conversation};

use crate::answer_format;
use crate::body;
use crate::conversation::{self, Field};
use crate::forced_tool;
use crate::ignored;
use crate::malformed::Malformed;
use crate::raw::Raw;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// The name of the model.
    pub model: String,
    /// The conversation to answer.
    pub conversation: Conversation,
    /// What the answer must be like.
    pub ask: Ask,
    /// The call as which the answer is sent, if the client forces one.
    pub call: Option<ForcedCall>,
    /// The options of a streamed answer; `None` for a whole one.
    pub stream: Option<StreamOptions>,
    /// The parameters that have no effect, sorted.
    pub ignored: Vec<String>,
}

/// A call that the client forces. Its arguments are the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForcedCall {
    /// The name of the tool or function.
    pub name: String,
    /// The form of the call.
    pub form: CallForm,
}

/// The forms of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallForm {
    /// `tool_calls`.
    Tool,
    /// `function_call`, which `tool_calls` has replaced.
    Function,
}

/// The options of a streamed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamOptions {
    /// Whether the last chunk has the usage.
    pub include_usage: bool,
}

/// The parameters that have an effect.
const USED: [&str; 11] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "n",
    "response_format",
    "stop",
    "max_tokens",
    "max_completion_tokens",
    "tool_choice",
    "function_call",
];

/// The tools of the client, which have an effect only if one of them is forced.
const TOOLS: [&str; 2] = ["tools", "functions"];

/// Decodes a request. Unknown keys are ignored.
///
/// # Errors
/// See [`Malformed`].
pub fn decode(body: &[u8]) -> Result<ChatRequest, Malformed> {
    let json = body::json(body, "`model` and `messages`")?;
    let body = json.value();
    let [model, messages, stream, options, n] = body.fields(["model", "messages", "stream", "stream_options", "n"]);
    let model = body::model(model)?;
    if n.is_some_and(|n| n.number() != Some(1.0)) {
        return Err(Malformed::field("n", "an agent gives one answer: leave `n` out, or set it to 1"));
    }
    let stream = body::stream(stream)?;
    let include_usage = options.and_then(|options| options.field("include_usage")).and_then(Raw::flag);
    let stream = stream.then_some(StreamOptions { include_usage: include_usage.unwrap_or(false) });
    let conversation = conversation::read(Vec::new(), messages, MESSAGES)?;
    let (ask, call) = asked(body)?;
    let used: Vec<&str> = USED.into_iter().chain(TOOLS.into_iter().filter(|_| call.is_some())).collect();
    Ok(ChatRequest { model, conversation, ask, call, stream, ignored: ignored::of(body, &used) })
}

/// What is asked of the answer. The arguments of a forced call are an answer with a format.
fn asked(body: Raw<'_>) -> Result<(Ask, Option<ForcedCall>), Malformed> {
    let [format, stop] = body.fields(["response_format", "stop"]);
    let [max_completion_tokens, max_tokens] = body.fields(["max_completion_tokens", "max_tokens"]);
    let [tool_choice, tools, function_call, functions] =
        body.fields(["tool_choice", "tools", "function_call", "functions"]);
    let tool = forced_tool::read(tool_choice, tools, forced_tool::Fields { choice: "tool_choice", tools: "tools" })?;
    let fields = forced_tool::Fields { choice: "function_call", tools: "functions" };
    let (forced, form) = match tool {
        Some(tool) => (Some(tool), CallForm::Tool),
        None => (forced_tool::read(function_call, functions, fields)?, CallForm::Function),
    };
    let call = forced.as_ref().map(|schema| ForcedCall { name: schema.name.clone(), form });
    let format = match (forced, format) {
        (Some(schema), _) => AnswerFormat::Schema(schema),
        (None, Some(format)) => answer_format::read(format, "response_format")?,
        (None, None) => AnswerFormat::Text,
    };
    let (max_output, name) = match max_completion_tokens {
        Some(max) => (Some(max), "max_completion_tokens"),
        None => (max_tokens, "max_tokens"),
    };
    // Some clients send a negative number for no maximum.
    let max_output = max_output.filter(|max| max.number().is_none_or(|max| max > 0.0));
    let ask = Ask { format, stop: body::texts(stop, "stop")?, max_output: body::max_output(max_output, name)? };
    Ok((ask, call))
}

const MESSAGES: Field = Field {
    name: "messages",
    missing: "`messages` is missing: send a list with at least one message of the role `user`",
};

#[cfg(test)]
mod tests {
    use agentbay_domain::AnswerSchema;
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
    fn what_is_asked_of_the_answer_is_read_in_the_forms_of_clients() {
        let asked = |fields: Value| {
            let mut body = json!({"model": "m", "messages": "hi"});
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let ChatRequest { ask, call, ignored, .. } = decoded(&body).unwrap();
            (ask, call, ignored)
        };
        let ask = |stop: &[&str], max_output| {
            let stop = stop.iter().map(|&text| text.to_owned()).collect();
            (Ask { stop, max_output, format: AnswerFormat::Text }, None, Vec::new())
        };
        for (fields, expected) in [
            (json!({"stop": "END", "max_tokens": 5}), ask(&["END"], Some(5))),
            (json!({"stop": ["a", null, ""], "max_tokens": 5, "max_completion_tokens": "7.0"}), ask(&["a"], Some(7))),
            (json!({"stop": null, "max_tokens": -1}), ask(&[], None)),
            (
                json!({"response_format": {"type": "text"}, "tool_choice": "auto", "function_call": "none"}),
                ask(&[], None),
            ),
        ] {
            assert_eq!(asked(fields.clone()), expected, "{fields}");
        }
        let function = json!({"name": "f", "parameters": {"type": "object"}});
        let schema = AnswerSchema { name: "f".to_owned(), json: r#"{"type":"object"}"#.to_owned() };
        let forced = |form, ignored: &[&str]| {
            let format = AnswerFormat::Schema(schema.clone());
            let call = Some(ForcedCall { name: "f".to_owned(), form });
            (Ask { format, ..Ask::default() }, call, ignored.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
        };
        for (fields, expected) in [
            (
                json!({"tools": [{"type": "function", "function": function}], "seed": 1, "temperature": 0,
                    "tool_choice": {"type": "function", "function": {"name": "f"}}}),
                forced(CallForm::Tool, &["seed", "temperature"]),
            ),
            (json!({"functions": [function], "function_call": {"name": "f"}}), forced(CallForm::Function, &[])),
        ] {
            assert_eq!(asked(fields.clone()), expected, "{fields}");
        }
        let (_, _, ignored) =
            asked(json!({"tools": [{"type": "function", "function": function}], "top_p": 1, "user": "u"}));
        assert_eq!(ignored, ["tools", "top_p", "user"]);
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
            (
                json!({"model": "m", "messages": user, "function_call": {"name": "f"}}),
                "\"function_call\"",
                "`functions`",
            ),
            (
                json!({"model": "m", "messages": user, "response_format": {"type": "xml"}}),
                "\"response_format\"",
                "`xml`",
            ),
            (json!({"model": "m", "messages": user, "stop": [7]}), "\"stop\"", "list of texts"),
            (json!({"model": "m", "messages": user, "max_tokens": "many"}), "\"max_tokens\"", "positive number"),
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
