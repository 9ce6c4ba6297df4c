//! The official Anthropic client for Python against the real binary.

use serde_json::json;

use crate::support::{FAILING_MODELS, Machine, PythonClient, codex_says, failing_clis, is_alive, wait_for};

const CLIENT: PythonClient = PythonClient { package: "anthropic", version: "2.14.0" };

const CONFIG: &str = r#"
[server]
api_keys = ["right"]
[defaults]
repo = "."
max_repo_runs = 4
[models."team/echo"]
driver = "echo"
[models.thinker]
driver = "codex"
[models.hanging]
driver = "generic"
program = "hanging"
options = { answer = "whole" }
"#;

#[test]
fn the_official_client_completes_streams_counts_and_understands_errors() {
    let Some(python) = CLIENT.python() else { return };
    let machine = Machine::configured(&[CONFIG, FAILING_MODELS].concat());
    let thought = json!({"type": "item.completed", "item": {"id": "item_1", "type": "reasoning", "text": "hm"}});
    machine.stand_in("codex", &["say", &format!("{thought}\n{}", codex_says("done"))]);
    failing_clis(&machine);
    let processes = machine.hanging("hanging", "I am here");
    let proxy = machine.serve();
    let summary = python.summary("anthropic_messages.py", &[&format!("http://{}", proxy.address()), "right"]);
    let text = "Be brief.\none two three";
    let message = json!({
        "content": [{"type": "text", "text": text}],
        "role": "assistant",
        "model": "team/echo",
        "stop_reason": "end_turn",
        "counted": true,
    });
    let mut with_id = message.clone();
    with_id["has_request_id"] = true.into();
    let models = ["breaking", "failing", "hanging", "team/echo", "thinker"];
    let expected = json!({
        "models": models.map(|model| [model, model, "active"]),
        "model": "team/echo",
        "message": with_id,
        "events": [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ],
        "text_stream": text,
        "helper": message,
        "thinking": [
            {"type": "thinking", "thinking": "hm", "signature": "YWdlbnRiYXk="},
            {"type": "text", "text": "done"},
        ],
        "count": 4,
        "errors": [
            ["BadRequestError", "invalid_request_error", "Unknown model", true],
            ["NotFoundError", "not_found_error", "The model `nobody` does not exist", true],
            [
                "AuthenticationError",
                "authentication_error",
                "an API key is required: send one of `server.api_keys` as `Authorization: Bearer …`, `x-api-key` or \
                 `x-goog-api-key`",
                true,
            ],
            ["InternalServerError", "api_error", "CLI failed: boom", true],
            ["APIStatusError", "api_error", "CLI failed: boom", true],
        ],
        "cancelled": "I am here",
    });
    assert_eq!(summary, expected);
    for file in processes {
        wait_for("the end of the CLI", || !is_alive(&file));
    }
}
