//! One part of a message's content, in any form: a string, a part of the OpenAI, Anthropic or Gemini API, or an unknown one.
//! Nothing is refused here: a client cannot change its history.

use agentbay_domain::Block;

use super::media;
use crate::raw::{Kind, Raw};

/// The maximum depth of parts within parts, as in a tool's result. A deeper part is kept as its JSON.
const DEEPEST: usize = 8;

/// The maximum length of an unknown part that is shown. A longer one is an image or the like, which no model can read as text.
const SHOWN: usize = 64 * 1024;

/// Adds the blocks of some content. Consecutive texts become one, joined by line feeds.
pub(super) fn add(content: Raw<'_>, blocks: &mut Vec<Block>) {
    add_at(content, blocks, 0);
}

/// Adds a text.
pub(super) fn add_text(text: String, blocks: &mut Vec<Block>) {
    if let Some(Block::Text(before)) = blocks.last_mut() {
        before.push('\n');
        before.push_str(&text);
    } else {
        blocks.push(Block::Text(text));
    }
}

/// The text of any content.
pub(super) fn text_of(content: Raw<'_>) -> String {
    text_at(content, 0)
}

/// A call in any form: the name and the arguments are in the object itself, or in an object inside it.
pub(super) fn call(call: Raw<'_>) -> Block {
    let inner = call.fields(["function", "custom", "functionCall", "function_call", "toolUse", "tool_use"]);
    let inner = inner.into_iter().flatten().find(|inner| inner.kind() == Kind::Object).unwrap_or(call);
    let [name, camel, kind] = call.fields(["name", "toolName", "type"]);
    let name = inner.field("name").or(name).or(camel).or(kind).map(plain).unwrap_or_default();
    let [arguments, input, args, parameters] = inner.fields(["arguments", "input", "args", "parameters"]);
    let input = arguments.or(input).or(args).or(parameters).map_or_else(|| "{}".to_owned(), plain);
    let [call_id, camel, id] = call.fields(["call_id", "toolCallId", "id"]);
    let [bedrock, inner_id] = inner.fields(["toolUseId", "id"]);
    let id = call_id.or(camel).or(id).or(bedrock).or(inner_id);
    Block::Call { id: id.map(plain).unwrap_or_default(), name, input }
}

/// A result in any form.
pub(super) fn result(result: Raw<'_>) -> Block {
    result_at(result, 0)
}

/// The reasoning of an agent, if it is readable.
pub(super) fn reasoning(thought: Raw<'_>) -> Option<Block> {
    let text = match thought.kind() {
        Kind::Object => {
            let [thinking, reasoning, text] = thought.fields(["thinking", "reasoning", "text"]);
            let [summary, content] = thought.fields(["summary", "content"]);
            let parts = [thinking.or(reasoning).or(text), summary, content];
            parts.into_iter().flatten().map(text_of).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        _ => text_of(thought),
    };
    (!text.is_empty()).then_some(Block::Reasoning(text))
}

pub(super) fn add_at(content: Raw<'_>, blocks: &mut Vec<Block>, depth: usize) {
    match content.kind() {
        Kind::Null => {}
        Kind::Text => add_text(plain(content), blocks),
        Kind::List if depth < DEEPEST => {
            for part in content.items().unwrap_or_default() {
                add_at(part, blocks, depth + 1);
            }
        }
        Kind::Object if depth < DEEPEST => add_part(content, blocks, depth + 1),
        Kind::Bool | Kind::Number | Kind::List | Kind::Object => add_text(content.json().to_owned(), blocks),
    }
}

fn add_part(part: Raw<'_>, blocks: &mut Vec<Block>, depth: usize) {
    let named = part.field("type").and_then(Raw::text).unwrap_or_default();
    let kind = if named.is_empty() { guessed(part).to_owned() } else { named };
    let word: String = kind.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let [text, refusal, transcript] = part.fields(["text", "refusal", "transcript"]);
    let [content, parts, value] = part.fields(["content", "parts", "value"]);
    match word.as_str() {
        // Only its provider can read it.
        _ if word.contains("redacted") || word.contains("encrypted") => {}
        "thinking" | "summarytext" | "thought" => blocks.extend(reasoning(part)),
        _ if word.starts_with("reasoning") => blocks.extend(reasoning(part)),
        _ if word.ends_with("result") || word.ends_with("output") || word.ends_with("response") => {
            blocks.push(result_at(part, depth));
        }
        _ if word.ends_with("call") || word.ends_with("tooluse") => blocks.push(call(part)),
        _ if media::is_media(&word) => media::add(part, kind, &word, blocks, depth),
        _ => match text.or(refusal).or(transcript).or(content).or(parts).or(value) {
            Some(inner) if inner.kind() == Kind::Object => {
                add_text(text_at(inner.field("value").unwrap_or(inner), depth), blocks)
            }
            Some(inner) => add_at(inner, blocks, depth),
            // A text part without text.
            None if matches!(word.as_str(), "text" | "inputtext" | "outputtext" | "refusal") => {}
            None if part.entries().is_some_and(|entries| entries.is_empty()) => {}
            // Only its provider can read it.
            None if part.field("encrypted_content").is_some() => {}
            // A change of the client's tools, which no agent calls.
            None if word.starts_with("tool") => {}
            None => blocks.push(Block::Unknown(shown(part, if kind.is_empty() { "unknown" } else { &kind }))),
        },
    }
}

/// The type of a part without one, guessed from its keys.
fn guessed(part: Raw<'_>) -> &'static str {
    const KEYS: [&str; 11] = [
        "functionCall",
        "functionResponse",
        "toolUse",
        "toolResult",
        "tool_call_id",
        "thinking",
        "inlineData",
        "fileData",
        "image_url",
        "input_audio",
        "image",
    ];
    let found = part.fields(KEYS).into_iter().zip(KEYS).find(|(value, _)| value.is_some());
    match found.map(|(_, key)| key) {
        Some("tool_call_id") => "tool_result",
        Some(key) => key,
        None if part.field("thought").and_then(Raw::flag) == Some(true) => "thought",
        None => "",
    }
}

fn result_at(result: Raw<'_>, depth: usize) -> Block {
    let [response, inner] = result.fields(["functionResponse", "toolResult"]);
    let inner = response.or(inner).unwrap_or(result);
    let [call_id, call, tool_use, bedrock] = inner.fields(["call_id", "tool_call_id", "tool_use_id", "toolUseId"]);
    let [camel_call, id] = inner.fields(["toolCallId", "id"]);
    let [name, camel_name] = inner.fields(["name", "toolName"]);
    let [content, output, response, value] = inner.fields(["content", "output", "response", "result"]);
    let [parts, text] = inner.fields(["parts", "text"]);
    let value = content.or(output).or(response).or(value).or(parts).or(text);
    let [snake, camel, status] = inner.fields(["is_error", "isError", "status"]);
    let failed =
        status.and_then(Raw::text).is_some_and(|status| matches!(status.as_str(), "error" | "failed" | "incomplete"));
    Block::Result {
        call: call_id.or(call).or(tool_use).or(bedrock).or(camel_call).or(id).map(plain).unwrap_or_default(),
        name: name.or(camel_name).map(plain).filter(|name| !name.is_empty()),
        text: value.map(|value| text_at(value, depth)).unwrap_or_default(),
        is_error: failed || snake.or(camel).and_then(Raw::flag) == Some(true),
    }
}

fn text_at(content: Raw<'_>, depth: usize) -> String {
    // An object of a tool's own has no known form.
    let is_own = |value: Raw<'_>| value.kind() == Kind::Object && value.field("type").or(value.field("text")).is_none();
    if is_own(content) && guessed(content).is_empty() {
        return content.json().to_owned();
    }
    let mut blocks = Vec::new();
    add_at(content, &mut blocks, depth);
    blocks.into_iter().map(words).collect::<Vec<_>>().join("\n")
}

fn words(block: Block) -> String {
    match block {
        Block::Text(text)
        | Block::Context(text)
        | Block::Unknown(text)
        | Block::Reasoning(text)
        | Block::Result { text, .. }
        | Block::Attachment { shown: text, .. } => text,
        Block::Media(media) => media.shown,
        Block::Call { name, input, .. } => format!("{name} {input}"),
    }
}

/// The text of a string, or the JSON of anything else.
pub(super) fn plain(value: Raw<'_>) -> String {
    value.text().unwrap_or_else(|| value.json().to_owned())
}

fn shown(part: Raw<'_>, kind: &str) -> String {
    if part.json().len() <= SHOWN { part.json().to_owned() } else { format!("[{kind}]") }
}
