//! The official OpenAI client for Python against the real binary. It is installed into a virtual environment below the
//! target folder, which is kept from one run of the tests to the next.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::support::Machine;

const CLIENT: &str = "openai==3.57.0";

const CONFIG: &str = r#"
[server]
api_keys = ["right"]
[defaults]
repo = "."
[models."team/echo"]
driver = "echo"
[models.failing]
driver = "generic"
program = "failing"
[models.breaking]
driver = "generic"
program = "breaking"
options = { answer = "whole" }
"#;

#[test]
fn the_official_client_completes_streams_and_understands_errors() {
    let Some(python) = python() else { return };
    let machine = Machine::configured(CONFIG);
    machine.stand_in("failing", &["say", "--err", "boom", "--exit", "3", ""]);
    machine.stand_in("breaking", &["say", "--err", "boom", "--exit", "3", "half an answer"]);
    let proxy = machine.serve();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/openai_chat.py");
    let base_url = format!("http://{}/v1", proxy.address());
    let printed =
        run(&python, &[script.to_str().unwrap(), &base_url, "right"]).unwrap_or_else(|error| panic!("{error}"));
    let summary: Value = serde_json::from_slice(&printed).unwrap();
    let content = "Be brief.\none two three";
    let expected = json!({
        "models": [
            ["breaking", "model", "generic"],
            ["failing", "model", "generic"],
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
        "errors": [
            ["BadRequestError", "Error code: 400 - Unknown model", "model_not_found"],
            ["NotFoundError", "Error code: 404 - The model `nobody` does not exist", "model_not_found"],
            [
                "AuthenticationError",
                "Error code: 401 - an API key is required: send one of `server.api_keys` as `Authorization: Bearer …`",
                "invalid_api_key",
            ],
            ["InternalServerError", "Error code: 500 - CLI failed: boom", "unknown"],
            ["APIError", "CLI failed: boom", "unknown"],
        ],
    });
    assert_eq!(summary, expected);
}

/// The Python of an environment with the client. If it cannot be created, without Python or a network, the test is skipped,
/// except in CI. Concurrent tests create it once.
pub(crate) fn python() -> Option<PathBuf> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    PYTHON.get_or_init(installed).clone()
}

#[expect(clippy::disallowed_methods, reason = "CI is a variable of the environment of the tests")]
#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
fn installed() -> Option<PathBuf> {
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("openai-client");
    if !environment.join(CLIENT).exists()
        && let Err(reason) = install(&environment)
    {
        assert!(std::env::var_os("CI").is_none(), "cannot install {CLIENT}: {reason}");
        eprintln!("left out, since {CLIENT} cannot be installed: {reason}");
        return None;
    }
    Some(environment.join("bin/python"))
}

fn install(environment: &Path) -> Result<(), String> {
    let place = environment.to_str().unwrap();
    run(Path::new("python3"), &["-m", "venv", "--clear", place])?;
    run(&environment.join("bin/python"), &["-m", "pip", "install", "--quiet", CLIENT])?;
    // Marks the environment as complete.
    std::fs::write(environment.join(CLIENT), "").map_err(|error| error.to_string())
}

/// Runs a program to its end, and returns its output.
#[expect(clippy::disallowed_methods, reason = "the client is a program of its own")]
pub(crate) fn run(program: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let output =
        Command::new(program).args(args).output().map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() { Ok(output.stdout) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
