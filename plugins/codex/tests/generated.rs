//! Generated runs in the format of Codex.

use agentbay_plugin_codex::Codex;
use agentbay_plugin_sdk::testing::{Script, suite};
use serde_json::{Value, json};

fn lines(script: &Script) -> Vec<Value> {
    let completed = |item: Value| json!({ "type": "item.completed", "item": item });
    let mut lines = vec![json!({ "type": "thread.started", "thread_id": "t" }), json!({ "type": "turn.started" })];
    for step in &script.steps {
        if !step.reasoning.is_empty() {
            lines.push(completed(json!({ "id": "r", "type": "reasoning", "text": step.reasoning.concat() })));
        }
        if !step.text.is_empty() {
            lines.push(completed(json!({ "id": "m", "type": "agent_message", "text": step.text.concat() })));
        }
        for call in &step.calls {
            let item = |output: &str, code: Option<u8>| {
                json!({
                    "id": call.id, "type": "command_execution", "command": call.command, "aggregated_output": output,
                    "exit_code": code,
                })
            };
            lines.push(json!({ "type": "item.started", "item": item("", None) }));
            lines.push(completed(item(&call.output, Some(call.is_error.into()))));
        }
    }
    lines.push(json!({ "type": "turn.completed", "usage": { "input_tokens": 1, "output_tokens": 1 } }));
    lines
}

suite!(Codex, generated: lines);
