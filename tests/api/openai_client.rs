//! The official OpenAI client for Python against the real binary.

use serde_json::json;

use crate::support::{FAILING_MODELS, Machine, PythonClient, failing_clis};

pub(crate) const CLIENT: PythonClient = PythonClient { package: "openai", version: "3.57.0" };

const CONFIG: &str = r#"
[server]
api_keys = ["right"]
[defaults]
repo = "."
[models."team/echo"]
driver = "echo"
[models.json]
driver = "generic"
program = "json"
options = { answer = "whole" }
"#;

#[test]
fn the_official_client_completes_streams_and_understands_errors() {
    let Some(python) = CLIENT.python() else { return };
    let machine = Machine::configured(&[CONFIG, FAILING_MODELS].concat());
    failing_clis(&machine);
    machine.stand_in("json", &["say", r#"{"name":"Ada","age":36}"#]);
    let proxy = machine.serve();
    let base_url = format!("http://{}/v1", proxy.address());
    let summary = python.summary("openai_chat.py", &[&base_url, "right"]);
    let person = json!({"name": "Ada", "age": 36});
    let content = "Be brief.\none two three";
    let expected = json!({
        "models": [
            ["breaking", "model", "generic"],
            ["failing", "model", "generic"],
            ["json", "model", "generic"],
            ["team/echo", "model", "echo"],
        ],
        "model": "team/echo",
        "answer": {
            "content": content,
            "role": "assistant",
            "finish_reason": "stop",
            "model": "team/echo",
            "counted": true,
            "has_request_id": true,
        },
        "chunks": {
            "content": content,
            "role": "assistant",
            "finish_reasons": ["stop"],
            "ids": 1,
            "usage": [false, true],
        },
        "helper": content,
        "asked": {
            "parsed": person,
            "streamed": person,
            "called": [person, "tool_calls"],
            "streamed_call": [person, "tool_calls"],
            "stopped": ["{\"", "stop"],
            "cut": ["{\"name\":", "length"],
            "image": "attachment-1.png]",
        },
        "errors": [
            ["BadRequestError", "Error code: 400 - Unknown model", "model_not_found"],
            ["NotFoundError", "Error code: 404 - The model `nobody` does not exist", "model_not_found"],
            [
                "AuthenticationError",
                "Error code: 401 - an API key is required: send one of `server.api_keys` as `Authorization: Bearer …`, `x-api-key` or `x-goog-api-key`",
                "invalid_api_key",
            ],
            ["InternalServerError", "Error code: 500 - CLI failed: boom", "unknown"],
            ["APIError", "CLI failed: boom", "unknown"],
            [
                "InternalServerError",
                "Error code: 502 - the agent's answer does not follow the schema `Place` of the request: Additional properties are \
                 not allowed ('age', 'name' were unexpected); \"city\" is a required property",
                "server",
            ],
        ],
    });
    assert_eq!(summary, expected);
}
