//! Decodes a request: the model, the conversation, and the form of the answer.

use agentbay_domain::{AnswerFormat, Ask, Conversation};

use crate::answer_format;
use crate::body;
use crate::conversation::{self, Field};
use crate::forced_tool;
use crate::ignored;
use crate::malformed::Malformed;
use crate::raw::{Kind, Raw};

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagesRequest {
    /// The name of the model.
    pub model: String,
    /// The conversation to answer.
    pub conversation: Conversation,
    /// What the answer must be like.
    pub ask: Ask,
    /// The name of the tool that the client forces: the answer is a call of it.
    pub call: Option<String>,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether the answer has the agent's reasoning.
    pub thinking: bool,
    /// The estimated tokens of the request, for the beginning of a stream.
    pub input_tokens: u64,
    /// The parameters without effect.
    pub ignored: Vec<String>,
}

/// The keys with an effect.
const USED: [&str; 10] = [
    "model",
    "messages",
    "system",
    "max_tokens",
    "stop_sequences",
    "stream",
    "thinking",
    "output_config",
    "output_format",
    "tool_choice",
];

/// Decodes a request. Unknown keys are ignored.
///
/// # Errors
/// See [`Malformed`].
pub fn decode(body: &[u8]) -> Result<MessagesRequest, Malformed> {
    let json = body::json(body, "`model`, `max_tokens` and `messages`")?;
    let body = json.value();
    let [model, messages, system, stream] = body.fields(["model", "messages", "system", "stream"]);
    let [choice, tools, thinking] = body.fields(["tool_choice", "tools", "thinking"]);
    let model = body::model(model)?;
    let stream = body::stream(stream)?;
    let mut ask = ask(body)?;
    let mut ignored = ignored::of(body, &USED);
    let forced = forced_tool::read(choice, tools, forced_tool::Fields { choice: "tool_choice", tools: "tools" })?;
    let call = forced.map(|schema| {
        ignored.retain(|name| name != "tools");
        let name = schema.name.clone();
        ask.format = AnswerFormat::Schema(schema);
        name
    });
    let conversation = conversation::read(conversation::instructions(system), messages, MESSAGES)?;
    let input_tokens = conversation::tokens(conversation.messages(), tools);
    let thinking = thinking.is_some_and(shows_thinking);
    Ok(MessagesRequest { model, conversation, ask, call, stream, thinking, input_tokens, ignored })
}

pub(super) const MESSAGES: Field = Field {
    name: "messages",
    missing: "`messages` is missing: send a list with at least one message of the role `user`",
};

/// Without being asked for, reasoning is left out: many clients read the first block of an answer as its text.
fn shows_thinking(thinking: Raw<'_>) -> bool {
    let [kind, display] = match thinking.kind() {
        Kind::Object => thinking.fields(["type", "display"]),
        _ => [Some(thinking), None],
    };
    let is = |given: Option<Raw<'_>>, word: &str| given.and_then(Raw::text).is_some_and(|text| text == word);
    kind.and_then(Raw::flag) != Some(false) && !is(kind, "disabled") && !is(display, "omitted")
}

fn ask(body: Raw<'_>) -> Result<Ask, Malformed> {
    let [config, older, stop, limit] = body.fields(["output_config", "output_format", "stop_sequences", "max_tokens"]);
    let format = match config.and_then(|config| config.field("format")).or(older) {
        Some(format) => answer_format::read(format, "output_config.format")?,
        None => AnswerFormat::Text,
    };
    let stop = body::texts(stop, "stop_sequences")?;
    Ok(Ask { format, stop, max_output: body::max_output(limit, "max_tokens")? })
}

#[cfg(test)]
mod tests {
    use agentbay_domain::AnswerSchema;
    use serde_json::{Value, json};

    use super::*;

    fn decoded(body: &Value) -> Result<MessagesRequest, String> {
        let refused = |error: Malformed| format!("\"param\":{} {}", json!(error.param), error.message);
        decode(body.to_string().as_bytes()).map_err(refused)
    }

    fn with(key: &str, value: Value) -> Value {
        let mut body = json!({"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]});
        body[key] = value;
        body
    }

    #[test]
    fn fields_that_are_unknown_null_or_loosely_typed_are_accepted() {
        for (key, value) in [
            ("max_tokens", Value::Null),
            ("max_tokens", json!("5")),
            ("max_tokens", json!(5.0)),
            ("temperature", json!("hot")),
            ("stream", Value::Null),
            ("stop_sequences", Value::Null),
            ("system", Value::Null),
            ("system", json!([])),
            ("tools", json!([{"type": "weird_20990101"}])),
            ("tool_choice", json!({"type": "auto", "disable_parallel_tool_use": true})),
            ("output_config", json!({"effort": "medium"})),
            ("output_config", json!({"format": null})),
            ("context_management", json!({"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]})),
            ("future", json!({})),
        ] {
            let body = with(key, value);
            let read = decoded(&body).unwrap();
            assert_eq!((read.stream, read.ask.format, read.ask.stop), (false, AnswerFormat::Text, vec![]), "{body}");
        }
    }

    #[test]
    fn an_unsupported_request_is_refused_with_the_name_of_the_field() {
        for (body, param, says) in [
            (json!({"messages": "hi"}), "\"model\"", "`model` is missing"),
            (json!({"model": "m"}), "\"messages\"", "`messages` is missing"),
            (
                with("messages", json!([{"role": "assistant", "content": "half an"}])),
                "\"messages\"",
                "nothing to answer",
            ),
            (with("stream", json!({})), "\"stream\"", "neither true nor false"),
            (with("max_tokens", json!(0)), "\"max_tokens\"", "positive"),
            (with("max_tokens", json!("many")), "\"max_tokens\"", "positive"),
            (with("stop_sequences", json!(7)), "\"stop_sequences\"", "list of texts"),
            (with("stop_sequences", json!(["a", {}])), "\"stop_sequences\"", "list of texts"),
            (with("tool_choice", json!({"type": "any"})), "\"tool_choice\"", "own tools"),
            (with("tool_choice", json!({"type": "tool", "name": "f"})), "\"tool_choice\"", "does not have"),
            (with("output_config", json!({"format": {"type": "xml"}})), "\"output_config.format\"", "unknown"),
            (with("output_config", json!({"format": {"type": "json_schema"}})), "\"output_config.format\"", "has none"),
            (json!("x"), "null", "not a JSON object"),
        ] {
            let refused = decoded(&body).unwrap_err();
            assert!(refused.contains(&format!("\"param\":{param}")) && refused.contains(says), "{refused}");
        }
    }

    #[test]
    fn limits_and_the_format_of_the_answer_are_read() {
        let mut body = with("stop_sequences", json!(["END", "", "\n"]));
        body["output_config"] =
            json!({"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}});
        let schema = AnswerSchema { name: String::new(), json: r#"{"type":"object"}"#.to_owned() };
        let stop = vec!["END".to_owned(), "\n".to_owned()];
        let expected = Ask { format: AnswerFormat::Schema(schema.clone()), stop, max_output: Some(5) };
        assert_eq!(decoded(&body).unwrap().ask, expected);
        let older = with("output_format", json!({"schema": {"type": "object"}}));
        assert_eq!(decoded(&older).unwrap().ask.format, AnswerFormat::Schema(schema));
    }

    #[test]
    fn a_forced_tool_is_the_format_of_the_answer() {
        let mut body = with("tool_choice", json!({"type": "tool", "name": "f"}));
        body["tools"] = json!([{"name": "g"}, {"name": "f", "input_schema": {"type": "object"}}]);
        body["top_k"] = 5.into();
        let read = decoded(&body).unwrap();
        let schema = AnswerSchema { name: "f".to_owned(), json: r#"{"type":"object"}"#.to_owned() };
        assert_eq!((read.call.as_deref(), read.ask.format), (Some("f"), AnswerFormat::Schema(schema)));
        assert_eq!(read.ignored, ["top_k"]);
        body["tool_choice"] = json!({"type": "auto"});
        let read = decoded(&body).unwrap();
        assert_eq!((read.call, read.ask.format), (None, AnswerFormat::Text));
        assert_eq!(read.ignored, ["tools", "top_k"]);
    }

    #[test]
    fn reasoning_is_shown_only_on_request() {
        for (thinking, shown) in [
            (Value::Null, false),
            (json!({"type": "disabled"}), false),
            (json!({"type": "adaptive", "display": "omitted"}), false),
            (json!(false), false),
            (json!({"type": "enabled", "budget_tokens": 1024}), true),
            (json!({"type": "adaptive", "display": "updates"}), true),
            (json!({"type": "future"}), true),
            (json!("adaptive"), true),
        ] {
            assert_eq!(decoded(&with("thinking", thinking.clone())).unwrap().thinking, shown, "{thinking}");
        }
    }
}
