//! One message of a request, in any form: a role and content, or an item of the Responses API.

use agentbay_domain::{Block, Message, Role};

use super::{client_text, part};
use crate::malformed::Malformed;
use crate::raw::{Kind, Raw};

/// Reads a message. Only the last one must have a known form: a client cannot change its history.
pub(crate) fn message(raw: Raw<'_>, at: usize, is_last: bool, field: &'static str) -> Result<Message, Malformed> {
    let role = match role(raw) {
        Ok(role) => role,
        Err(_) if !is_last => Role::Other,
        Err(fault) => {
            let message = format!("{field}[{at}] {fault}: use the role system, developer, user, assistant or tool");
            return Err(Malformed::field(field, message));
        }
    };
    Ok(Message { role, blocks: blocks(raw, role) })
}

fn role(raw: Raw<'_>) -> Result<Role, String> {
    if raw.kind() == Kind::Text {
        return Ok(Role::User);
    }
    // Google's JSON has an empty text in place of a role that is not set.
    let named = raw.field("role").filter(|named| named.text().is_none_or(|name| !name.is_empty()));
    let Some(named) = named else { return role_of_item(raw) };
    let named = named.text().unwrap_or_else(|| named.json().to_owned());
    match named.trim().to_ascii_lowercase().as_str() {
        "system" => Ok(Role::System),
        "developer" => Ok(Role::Developer),
        "user" | "human" => Ok(Role::User),
        "assistant" | "model" | "ai" | "bot" => Ok(Role::Assistant),
        "tool" | "function" | "tool_result" | "toolresult" | "ipython" => Ok(Role::Tool),
        _ => Err(format!("has the unknown role `{named}`")),
    }
}

/// The role of an item that has a type instead of a role.
fn role_of_item(raw: Raw<'_>) -> Result<Role, String> {
    let [kind, calls, result] = raw.fields(["type", "tool_calls", "tool_call_id"]);
    let [parts, text] = raw.fields(["parts", "text"]);
    let kind = kind.and_then(Raw::text).unwrap_or_default();
    if calls.is_some() || kind.ends_with("_call") || kind == "reasoning" {
        Ok(Role::Assistant)
    } else if result.is_some() || kind.ends_with("_output") {
        Ok(Role::Tool)
    } else if kind.is_empty() && parts.or(text).is_some() {
        // A content of the Gemini API needs no role, and some clients send its parts alone.
        Ok(Role::User)
    } else {
        Err("has no `role`".to_owned())
    }
}

fn blocks(raw: Raw<'_>, role: Role) -> Vec<Block> {
    let mut blocks = Vec::new();
    let [named, content, parts, text, output] = raw.fields(["role", "content", "parts", "text", "output"]);
    if raw.kind() != Kind::Object || (named.is_none() && content.or(parts).is_none()) {
        // A text, or an item that is itself a call, a result or reasoning.
        add(raw, role, &mut blocks);
        return blocks;
    }
    let content = content.or(parts).or(text).or(output);
    for thought in raw.fields(["reasoning_content", "reasoning", "thinking", "reasoning_details"]).into_iter().flatten()
    {
        // Some clients send the same reasoning under several names.
        let thought = part::reasoning(thought).filter(|thought| !blocks.contains(thought));
        blocks.extend(thought);
    }
    if role == Role::Tool {
        blocks.append(&mut results(raw, content));
    } else if raw.field("type").and_then(Raw::text).as_deref() == Some("reasoning") {
        blocks.extend(part::reasoning(raw));
    } else if let Some(content) = content {
        add(content, role, &mut blocks);
    }
    let [refusal, audio, calls, call] = raw.fields(["refusal", "audio", "tool_calls", "function_call"]);
    for text in [refusal, audio.and_then(|audio| audio.field("transcript"))].into_iter().flatten() {
        part::add(text, &mut blocks);
    }
    let calls = calls.map(|calls| calls.items().unwrap_or_else(|| vec![calls])).unwrap_or_default();
    blocks.extend(calls.into_iter().chain(call).filter(|call| call.kind() == Kind::Object).map(part::call));
    blocks
}

/// Adds the content of a message part by part, so that a client's text is not mixed with the words beside it.
pub(super) fn add(content: Raw<'_>, role: Role, blocks: &mut Vec<Block>) {
    let parts = if content.kind() == Kind::List { content.items().unwrap_or_default() } else { vec![content] };
    for part in parts {
        let mut own = Vec::new();
        part::add(part, &mut own);
        for block in own {
            match block {
                Block::Text(text) => client_text::add(text, role, blocks),
                other => blocks.push(other),
            }
        }
    }
}

/// The message of a tool is one result, or a list of results.
fn results(raw: Raw<'_>, content: Option<Raw<'_>>) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(content) = content {
        part::add(content, &mut blocks);
    }
    let are_results = !blocks.is_empty() && blocks.iter().all(|block| matches!(block, Block::Result { .. }));
    if are_results { blocks } else { vec![part::result(raw)] }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::mend;

    fn read(message: &Value) -> Message {
        super::message(mend::json(message.to_string().as_bytes()).unwrap().value(), 0, false, "messages").unwrap()
    }

    fn text(text: &str) -> Block {
        Block::Text(text.to_owned())
    }

    fn call(id: &str, name: &str, input: &str) -> Block {
        Block::Call { id: id.to_owned(), name: name.to_owned(), input: input.to_owned() }
    }

    fn result(call: &str, name: Option<&str>, text: &str, is_error: bool) -> Block {
        Block::Result { call: call.to_owned(), name: name.map(str::to_owned), text: text.to_owned(), is_error }
    }

    fn attachment(kind: &str, shown: &str) -> Block {
        Block::Attachment { kind: kind.to_owned(), shown: shown.to_owned() }
    }

    #[test]
    fn a_role_is_read_in_any_spelling_and_an_unknown_one_is_other() {
        for (named, role) in [
            ("user", Role::User),
            (" User", Role::User),
            ("human", Role::User),
            ("SYSTEM", Role::System),
            ("developer", Role::Developer),
            ("model", Role::Assistant),
            ("function", Role::Tool),
            ("robot", Role::Other),
        ] {
            assert_eq!(read(&json!({"role": named, "content": ""})).role, role, "{named}");
        }
        for (item, role) in [
            (json!("hi"), Role::User),
            (json!(7), Role::Other),
            (json!({"content": "hi"}), Role::Other),
            (json!({"role": null, "tool_calls": []}), Role::Assistant),
            (json!({"type": "reasoning", "summary": []}), Role::Assistant),
            (json!({"type": "function_call_output"}), Role::Tool),
            (json!({"tool_call_id": "1", "content": "x"}), Role::Tool),
        ] {
            assert_eq!(read(&item).role, role, "{item}");
        }
    }

    #[test]
    fn content_is_read_in_every_form() {
        for (content, expected) in [
            (json!("a"), vec![text("a")]),
            (json!(["a", {"type": "text", "text": "b"}, {"type": "input_text", "text": "c"}]), vec![text("a\nb\nc")]),
            (json!({"type": "output_text", "text": "a", "annotations": []}), vec![text("a")]),
            (json!({"text": {"value": "a", "annotations": []}}), vec![text("a")]),
            (json!({"parts": [{"text": "a"}]}), vec![text("a")]),
            (json!(7.5), vec![text("7.5")]),
            (json!([null, {"type": "text"}, {"type": "text", "text": null}]), vec![]),
            (json!([{"type": "refusal", "refusal": "no"}]), vec![text("no")]),
            (
                json!([{"type": "thinking", "thinking": "hm", "signature": "s"}]),
                vec![Block::Reasoning("hm".to_owned())],
            ),
            (json!([{"thought": true, "text": "hm"}]), vec![Block::Reasoning("hm".to_owned())]),
            (json!([{"type": "redacted_thinking", "data": "x"}]), vec![]),
            (json!([{"type": "image_url", "image_url": {"url": "data:"}}]), vec![attachment("image_url", "[image]")]),
            (
                json!([{"inlineData": {"mimeType": "image/png", "data": "x"}}]),
                vec![attachment("inlineData", "[image]")],
            ),
            (json!([{"type": "input_audio", "input_audio": {}}]), vec![attachment("input_audio", "[audio]")]),
            (json!([{"type": "file", "file": {"filename": "a\n.pdf"}}]), vec![attachment("file", "[file a.pdf]")]),
            (json!([{"type": "document", "source": {"type": "text", "data": "words"}}]), vec![text("words")]),
            (json!([{"type": "hologram", "x": 1}]), vec![Block::Unknown(r#"{"type":"hologram","x":1}"#.to_owned())]),
            (json!([{"type": "tool_addition", "tool": {"name": "f"}}, {"type": "tool_removal_20990101"}]), vec![]),
        ] {
            assert_eq!(read(&json!({"role": "user", "content": content})).blocks, expected, "{content}");
        }
    }

    #[test]
    fn the_context_of_a_client_is_separate_in_every_form() {
        let (tagged, context) = ("<system-reminder>x</system-reminder>", "<system-reminder>x</system-reminder>");
        let expected = [Block::Context(context.to_owned()), text("hi")];
        for message in [
            json!(format!("{tagged}\nhi")),
            json!({"role": "user", "content": format!("{tagged}hi")}),
            json!({"role": "user", "content": [{"type": "text", "text": tagged}, {"type": "text", "text": "hi"}]}),
            json!({"role": "user", "content": [tagged, "hi"]}),
            json!({"role": "user", "parts": [{"text": tagged}, {"text": "hi"}]}),
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": tagged}, {"text": "hi"}]}),
        ] {
            assert_eq!(read(&message).blocks, expected, "{message}");
        }
        let answered = json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": tagged}]},
            {"type": "text", "text": tagged},
        ]});
        let expected = [result("1", None, tagged, false), Block::Context(context.to_owned())];
        assert_eq!(read(&answered).blocks, expected);
    }

    #[test]
    fn calls_are_read_in_every_form() {
        for (message, expected) in [
            (
                json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}},
                    {"id": 2, "function": {"name": "g", "arguments": null}},
                    {"name": "h", "arguments": "{}"},
                    {"id": "4", "type": "custom", "custom": {"name": "i", "input": "raw"}},
                ]}),
                vec![call("1", "f", r#"{"a":1}"#), call("2", "g", "{}"), call("", "h", "{}"), call("4", "i", "raw")],
            ),
            (json!({"role": "assistant", "function_call": {"name": "f", "arguments": "x"}}), vec![call("", "f", "x")]),
            (
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}),
                vec![call("1", "f", "{}")],
            ),
            (
                json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}),
                vec![call("", "f", "{}")],
            ),
            (
                json!({"type": "function_call", "id": "fc", "call_id": "1", "name": "f", "arguments": "{}"}),
                vec![call("1", "f", "{}")],
            ),
            (json!({"role": "assistant", "tool_calls": {"name": null}}), vec![call("", "", "{}")]),
        ] {
            assert_eq!(read(&message).blocks, expected, "{message}");
        }
    }

    #[test]
    fn results_are_read_in_every_form() {
        for (message, expected) in [
            (json!({"role": "tool", "tool_call_id": "1", "content": "x"}), result("1", None, "x", false)),
            (
                json!({"role": "tool", "tool_call_id": "1", "name": null, "content": [{"type": "text", "text": "x"}]}),
                result("1", None, "x", false),
            ),
            (json!({"role": "tool", "parts": [{"text": "x"}]}), result("", None, "x", false)),
            (json!({"role": "function", "name": "f", "content": "x"}), result("", Some("f"), "x", false)),
            (json!({"role": "tool", "content": {"out": [1]}}), result("", None, r#"{"out":[1]}"#, false)),
            (json!({"role": "tool", "content": null}), result("", None, "", false)),
            (
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": [
                    {"type": "text", "text": "x"}, {"type": "image", "source": {}},
                ]}]}),
                result("1", None, "x\n[image]", true),
            ),
            (json!({"type": "function_call_output", "call_id": "1", "output": "x"}), result("1", None, "x", false)),
            (
                json!({"role": "tool", "content": [
                    {"type": "tool-result", "toolCallId": "1", "toolName": "f", "output": {"type": "text", "value": "x"}},
                ]}),
                result("1", Some("f"), "x", false),
            ),
            (
                json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]}),
                result("", Some("f"), r#"{"output":"x"}"#, false),
            ),
        ] {
            assert_eq!(read(&message).blocks, [expected], "{message}");
        }
    }

    #[test]
    fn all_content_of_an_assistant_is_kept_in_order() {
        let message = json!({
            "role": "assistant", "reasoning_content": "hm", "content": "a", "refusal": "no", "audio": {"transcript": "b"},
            "tool_calls": [{"id": "1", "function": {"name": "f"}}],
        });
        let expected = [Block::Reasoning("hm".to_owned()), text("a\nno\nb"), call("1", "f", "{}")];
        assert_eq!(read(&message).blocks, expected);
        let twice =
            json!({"role": "assistant", "text": "a", "reasoning_content": "hm", "reasoning": "hm", "thinking": "so"});
        let thought = |text: &str| Block::Reasoning(text.to_owned());
        assert_eq!(read(&twice).blocks, [thought("hm"), thought("so"), text("a")]);
        let item =
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"});
        assert_eq!(read(&item).blocks, [Block::Reasoning("hm".to_owned())]);
    }

    #[test]
    fn content_that_is_nested_too_deeply_is_kept_as_its_json() {
        let mut content = json!("planted");
        for _ in 0..100 {
            content = json!([{"type": "tool_result", "content": content}]);
        }
        let Message { blocks, .. } = read(&json!({"role": "user", "content": content}));
        assert!(matches!(&blocks[..], [Block::Result { text, .. }] if text.contains("planted")), "{blocks:?}");
    }
}
