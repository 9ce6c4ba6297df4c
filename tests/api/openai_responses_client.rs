//! The official OpenAI client for Python as a client of the Responses surface, against the real binary.

use serde_json::json;

use super::openai_client::CLIENT;
use crate::support::{FAILING_MODELS, Machine, codex_says, failing_clis};

const CONFIG: &str = r#"
[server]
api_keys = ["right"]
[defaults]
repo = "."
[models."team/echo"]
driver = "echo"
[models.thinking]
driver = "codex"
[models.json]
driver = "generic"
program = "json"
[models.slow]
driver = "generic"
program = "slow"
options = { answer = "whole" }
"#;

#[test]
fn the_official_client_creates_streams_continues_polls_and_cancels_responses() {
    let Some(python) = CLIENT.python() else { return };
    let machine = Machine::configured(&[CONFIG, FAILING_MODELS].concat());
    let thought = json!({"type": "item.completed", "item": {"id": "t", "type": "reasoning", "text": "hm"}});
    machine.script("codex", &format!("cat >/dev/null; cat <<'END'\n{thought}\n{}END", codex_says("so")));
    machine.stand_in("json", &["say", "{\"name\": \"Ada\"}"]);
    machine.hanging("slow", "begun");
    failing_clis(&machine);
    let proxy = machine.serve();
    let base_url = format!("http://{}/v1", proxy.address());
    let summary = python.summary("openai_responses.py", &[&base_url, "right"]);
    let text = "Be brief.\none two three";
    let expected = json!({
        "answer": {"text": text, "status": "completed", "model": "team/echo", "counted": true, "has_request_id": true},
        "events": [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ],
        "helper": ["so", "hm", "response.created", "response.completed"],
        "parsed": "Ada",
        "stored": {"continues": true, "same": true, "roles": ["user", "assistant", "user"]},
        "conversation": ["user", "assistant"],
        "conversation_deleted": true,
        "background": [summary["background"][0], "begun", "cancelled", ["response.failed"]],
        "errors": [
            [400, "Unknown model", "model_not_found"],
            [404, summary["errors"][1][1], "response_not_found"],
            [400, summary["errors"][2][1], "previous_response_not_found"],
            [400, "CLI failed", "unknown"],
        ],
        "broken": ["response.failed", "CLI failed: boom", "half an answer"],
    });
    assert_eq!(summary, expected);
    assert!(["queued", "in_progress"].contains(&summary["background"][0].as_str().unwrap()), "{summary}");
}
