//! The `stream-json` form of a generated run, as Claude-like CLIs print it.

use serde_json::{Value, json};

use super::{Script, Step};

/// The events of a run, with `stream_event` lines before each message if it is partial.
pub fn claude_lines(script: &Script) -> Vec<Value> {
    let mut lines = vec![json!({ "type": "system", "subtype": "init", "session_id": "s" })];
    for (number, step) in script.steps.iter().enumerate() {
        let id = format!("msg_{number}");
        let events = if script.is_partial { pieces(&id, step) } else { Vec::new() };
        lines.extend(events.into_iter().map(|event| json!({ "type": "stream_event", "event": event })));
        let message = json!({ "id": id, "role": "assistant", "content": blocks(step) });
        lines.push(json!({ "type": "assistant", "message": message, "parent_tool_use_id": null }));
        for call in &step.calls {
            let (id, output, is_error) = (&call.id, &call.output, call.is_error);
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error });
            lines.push(json!({ "type": "user", "message": { "role": "user", "content": [result] } }));
        }
    }
    let last = script.steps.last().map(|step| step.text.concat());
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    lines.push(json!({ "type": "result", "subtype": "success", "is_error": false, "result": last, "usage": usage }));
    lines
}

/// The blocks of a message: reasoning, text, calls.
fn blocks(step: &Step) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !step.reasoning.is_empty() {
        blocks.push(json!({ "type": "thinking", "thinking": step.reasoning.concat() }));
    }
    if !step.text.is_empty() {
        blocks.push(json!({ "type": "text", "text": step.text.concat() }));
    }
    let calls = step.calls.iter();
    blocks
        .extend(calls.map(|call| json!({ "type": "tool_use", "id": call.id, "name": "Bash", "input": call.input() })));
    blocks
}

/// The deltas of a message.
fn pieces(id: &str, step: &Step) -> Vec<Value> {
    let mut events = vec![json!({ "type": "message_start", "message": { "id": id } })];
    for (index, block) in blocks(step).into_iter().enumerate() {
        let deltas: Vec<Value> = match block.get("type").and_then(Value::as_str) {
            Some("thinking") => {
                step.reasoning.iter().map(|text| json!({ "type": "thinking_delta", "thinking": text })).collect()
            }
            Some("text") => step.text.iter().map(|text| json!({ "type": "text_delta", "text": text })).collect(),
            _ => vec![json!({ "type": "input_json_delta", "partial_json": "{}" })],
        };
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.extend(
            deltas.into_iter().map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.extend([
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
        json!({ "type": "message_stop" }),
    ]);
    events
}
