//! Generated runs in the format of Copilot.

use agentbay_plugin_copilot::Copilot;
use agentbay_plugin_sdk::testing::{Script, suite};
use serde_json::{Value, json};

fn lines(script: &Script) -> Vec<Value> {
    let mut lines = vec![json!({ "type": "session.skills_loaded", "data": { "skills": [] } })];
    let mut add = |kind: &str, data: Value| lines.push(json!({ "type": kind, "data": data }));
    for step in &script.steps {
        add("assistant.message_start", json!({}));
        if script.is_partial {
            step.reasoning.iter().for_each(|text| add("assistant.reasoning_delta", json!({ "deltaContent": text })));
            step.text.iter().for_each(|text| add("assistant.message_delta", json!({ "deltaContent": text })));
        }
        add("assistant.message", json!({ "content": step.text.concat() }));
        if !step.reasoning.is_empty() {
            add("assistant.reasoning", json!({ "content": step.reasoning.concat() }));
        }
        for call in &step.calls {
            let (id, input) = (&call.id, call.input());
            add("tool.execution_start", json!({ "toolCallId": id, "toolName": "bash", "arguments": input }));
            let result = json!({ "toolCallId": id, "success": !call.is_error, "result": { "content": call.output } });
            add("tool.execution_complete", result);
        }
    }
    lines.push(json!({ "type": "result", "sessionId": "s", "exitCode": 0 }));
    lines
}

suite!(Copilot, generated: lines);
