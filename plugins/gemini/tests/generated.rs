//! Generated runs in the format of Gemini CLI.

use agentbay_plugin_gemini::Gemini;
use agentbay_plugin_sdk::testing::{Script, suite};
use serde_json::{Value, json};

fn lines(script: &Script) -> Vec<Value> {
    let mut lines = vec![
        json!({ "type": "init", "session_id": "s" }),
        json!({ "type": "message", "role": "user", "content": "Say hello" }),
    ];
    for step in &script.steps {
        let message = |text: &String| json!({ "type": "message", "role": "assistant", "content": text, "delta": true });
        lines.extend(step.text.iter().map(message));
        for call in &step.calls {
            let status = if call.is_error { "error" } else { "success" };
            let (id, input, output) = (&call.id, call.input(), &call.output);
            lines.push(json!({ "type": "tool_use", "tool_name": "shell", "tool_id": id, "parameters": input }));
            lines.push(json!({ "type": "tool_result", "tool_id": id, "status": status, "output": output }));
        }
    }
    lines.push(json!({ "type": "result", "status": "success", "stats": { "input_tokens": 1, "total_tokens": 2 } }));
    lines
}

suite!(Gemini, generated: lines);
