//! Google's official client for Python against the real binary.

use serde_json::json;

use crate::support::{FAILING_MODELS, Machine, PythonClient, codex_says, failing_clis};

const CLIENT: PythonClient = PythonClient { package: "google-genai", version: "3.6.1" };

const CONFIG: &str = r#"
[server]
api_keys = ["right"]
[limits]
keep_alive = "50ms"
first_event_timeout = 0
[defaults]
repo = "."
[models."team/echo"]
driver = "echo"
[models.thinking]
driver = "codex"
[models.json]
driver = "codex"
program = "json"
[models.slow]
driver = "generic"
program = "slow"
options = { answer = "whole" }
"#;

#[test]
fn googles_client_generates_streams_counts_and_understands_errors() {
    let Some(python) = CLIENT.python() else { return };
    let machine = Machine::configured(&[CONFIG, FAILING_MODELS].concat());
    machine.write("thinking.jsonl", thinking());
    machine.write("json.jsonl", codex_says(r#"{"name": "one", "size": 1}"#));
    machine.script("codex", "cat >/dev/null; cat thinking.jsonl");
    machine.script("json", "cat >/dev/null; cat json.jsonl");
    let gate = machine.name("gate");
    machine.stand_in("slow", &["gate", &gate, "", "slowly"]);
    failing_clis(&machine);
    let proxy = machine.serve();
    let summary = python.summary("gemini.py", &[&format!("http://{}", proxy.address()), "right", &gate]);
    let text = "Be brief.\none two three";
    let methods = ["generateContent", "streamGenerateContent", "countTokens"];
    let models = ["breaking", "failing", "json", "slow", "team/echo", "thinking"];
    let key = "an API key is required: send one of `server.api_keys` as `Authorization: Bearer …`, `x-api-key` or \
               `x-goog-api-key`";
    let parsed = json!({"name": "one", "size": 1});
    let expected = json!({
        "models": models.map(|name| json!([format!("models/{name}"), name, methods])),
        "model": "models/team/echo",
        "tokens": 4,
        "answer": {"text": text, "finish_reason": "STOP", "model": "team/echo", "has_id": true, "counted": true},
        "chunks": {"text": text, "finish_reasons": ["STOP"], "ids": 1, "usage": [false, true]},
        "async": "one two three",
        "chat": "Previous conversation context:\nuser: first\n\nassistant:\n> first\n\n--- USER TASK ---\nsecond",
        "history": ["user", "model", "user", "model"],
        "thoughts": {
            "with": {"text": "hello", "parts": [["hm", true], ["hello", false]], "streamed": "hm", "tokens": 5},
            "without": {"text": "hello", "parts": [["hello", false]], "streamed": "", "tokens": 5},
        },
        "slow": {"text": "slowly", "kept_alive": true},
        "slow_chat": "slowly",
        "slow_history": [["user", "hi"], ["model", "slowly"]],
        "slow_again": "slowly",
        "parsed": {"schema": parsed, "json_schema": parsed, "any": parsed},
        "errors": [
            ["ClientError", 400, "INVALID_ARGUMENT", "Unknown model"],
            ["ClientError", 404, "NOT_FOUND", "The model `nobody` does not exist"],
            ["ClientError", 400, "INVALID_ARGUMENT", "Unknown model"],
            ["ClientError", 401, "UNAUTHENTICATED", key],
            ["ClientError", 400, "FAILED_PRECONDITION", "CLI failed: boom"],
            ["ClientError", 400, "FAILED_PRECONDITION", "CLI failed: boom"],
            ["ClientError", 400, "FAILED_PRECONDITION", "CLI failed: boom"],
        ],
        "interactions": true,
    });
    assert_eq!(summary, expected);
}

/// The output of a CLI that reasons before it answers.
fn thinking() -> String {
    let item =
        |kind: &str, text: &str| json!({"type": "item.completed", "item": {"id": kind, "type": kind, "text": text}});
    let usage = json!({"input_tokens": 10, "output_tokens": 7, "reasoning_output_tokens": 5});
    let lines =
        [item("reasoning", "hm"), item("agent_message", "hello"), json!({"type": "turn.completed", "usage": usage})];
    lines.map(|line| format!("{line}\n")).concat()
}
