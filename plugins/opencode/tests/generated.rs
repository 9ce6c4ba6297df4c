//! Generated runs in the format of opencode.

use agentbay_plugin_opencode::Opencode;
use agentbay_plugin_sdk::testing::{Script, suite};
use serde_json::{Value, json};

fn lines(script: &Script) -> Vec<Value> {
    let mut lines = Vec::new();
    for (number, step) in script.steps.iter().enumerate() {
        let mut add = |kind: &str, mut part: Value| {
            part["messageID"] = json!(format!("msg_{number}"));
            lines.push(json!({ "type": kind, "sessionID": "ses", "part": part }));
        };
        add("step_start", json!({}));
        if !step.reasoning.is_empty() {
            add("reasoning", json!({ "text": step.reasoning.concat() }));
        }
        if !step.text.is_empty() {
            add("text", json!({ "text": step.text.concat() }));
        }
        for call in &step.calls {
            let state = json!({
                "status": "completed", "input": call.input(), "output": call.output,
                "metadata": { "exit": u8::from(call.is_error) },
            });
            add("tool_use", json!({ "tool": "bash", "callID": call.id, "state": state }));
        }
        let reason = if step.calls.is_empty() { "stop" } else { "tool-calls" };
        add("step_finish", json!({ "reason": reason, "tokens": { "input": 1, "output": 1 } }));
    }
    lines
}

suite!(Opencode, generated: lines);
