//! Generated runs in the format of agents of the Agent Client Protocol.

use agentbay_plugin_acp::Acp;
use agentbay_plugin_sdk::testing::{Script, suite};
use serde_json::{Value, json};

fn lines(script: &Script) -> Vec<Value> {
    let mut lines = vec![json!({ "id": 1, "result": {} }), json!({ "id": 2, "result": { "sessionId": "s" } })];
    let mut update = |update: Value| {
        let params = json!({ "sessionId": "s", "update": update });
        lines.push(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    };
    let chunk = |kind: &str, text: &str| json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
    for step in &script.steps {
        step.reasoning.iter().for_each(|text| update(chunk("agent_thought_chunk", text)));
        step.text.iter().for_each(|text| update(chunk("agent_message_chunk", text)));
        for call in &step.calls {
            let status = if call.is_error { "failed" } else { "completed" };
            let content = json!([{ "type": "content", "content": { "type": "text", "text": call.output } }]);
            update(
                json!({ "sessionUpdate": "tool_call", "toolCallId": call.id, "status": "pending", "kind": "execute" }),
            );
            update(json!({
                "sessionUpdate": "tool_call_update", "toolCallId": call.id, "status": "in_progress",
                "rawInput": call.input(),
            }));
            update(json!({
                "sessionUpdate": "tool_call_update", "toolCallId": call.id, "status": status, "content": content,
            }));
        }
    }
    lines.push(json!({ "jsonrpc": "2.0", "id": 3, "result": { "stopReason": "end_turn" } }));
    lines
}

suite!(Acp, generated: lines);
