//! Text in JSON for which the options have no paths: in a single value, and in the events of a stream.

use agentbay_plugin_sdk::{Value, json};

/// The answer in one JSON value, in this order: the string `content`, the string `text`; the strings `response`,
/// `message`, `output`, `result`; the texts of the list `content`; `choices[0].message.content`; `message.content` and
/// `message.text`.
pub(crate) fn of_value(value: &Value) -> Option<String> {
    const STRINGS: [&str; 6] = ["content", "text", "response", "message", "output", "result"];
    STRINGS
        .iter()
        .find_map(|name| json::text(value, &[name]).map(String::from))
        .or_else(|| json::at(value, &["content"]).and_then(json::content_text))
        .or_else(|| json::items(value, &["choices"]).first().and_then(|choice| in_message(choice, &["content"])))
        .or_else(|| in_message(value, &["content", "text"]))
}

fn in_message(value: &Value, names: &[&str]) -> Option<String> {
    let message = json::at(value, &["message"])?;
    names.iter().find_map(|name| json::at(message, &[name]).and_then(json::content_text))
}

/// The content of one event of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text that continues the message.
    Text(String),
    /// A whole message.
    Message(String),
    /// The whole answer: counts only if there was no text.
    Answer(String),
    /// The turn ended successfully.
    Over,
    /// Known, and not part of the answer.
    Nothing,
}

/// Reads an event; `None` if its kind is unknown.
pub(crate) fn of_event(event: &Value) -> Option<Part> {
    if let Some(kind) = json::text(event, &["type"])
        && let Some(part) = of_kind(kind, event)
    {
        return Some(part);
    }
    match json::text(event, &["role"])? {
        "assistant" => {
            Some(json::at(event, &["content"]).and_then(json::content_text).map_or(Part::Nothing, Part::Text))
        }
        "user" | "system" | "tool" => Some(Part::Nothing),
        _ => None,
    }
}

fn of_kind(kind: &str, event: &Value) -> Option<Part> {
    let text = |path: &[&str]| json::text(event, path).map(String::from);
    match kind {
        "content" => Some(text(&["content"]).map_or(Part::Nothing, Part::Text)),
        "item.completed" => {
            // Reasoning, commands and warnings are items with text too.
            let is_message = json::text(event, &["item", "type"]).is_none_or(|kind| kind == "agent_message");
            let message = text(&["item", "text"]).or_else(|| text(&["item", "agent_message", "text"]));
            Some(message.filter(|_| is_message).map_or(Part::Nothing, Part::Message))
        }
        "turn.started" | "thread.started" | "item.started" => Some(Part::Nothing),
        "turn.completed" => Some(Part::Over),
        "result" => Some(text(&["result"]).map_or(Part::Nothing, Part::Answer)),
        // A whole message of the assistant, in the format of Claude Code.
        "assistant" => {
            let content = json::at(event, &["message", "content"]).or_else(|| json::at(event, &["content"]));
            Some(content.and_then(json::content_text).map_or(Part::Nothing, Part::Message))
        }
        "user" | "system" | "tool_call" | "tool_use" | "tool_result" => Some(Part::Nothing),
        _ => None,
    }
}
