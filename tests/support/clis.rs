//! The built-in drivers and their CLIs.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::Machine;

/// The drivers of CLIs that are programs of their own, each with its program.
pub(crate) const CLIS: [(&str, &str); 8] = [
    ("claude", "claude"),
    ("codex", "codex"),
    ("copilot", "copilot"),
    ("gemini", "gemini"),
    ("glm", "ax-glm"),
    ("grok", "ax-grok"),
    ("opencode", "opencode"),
    ("qwen", "qwen"),
];

/// The ids of all built-in drivers in their order: the components in `plugins/prebuilt`.
pub(crate) fn drivers() -> Vec<String> {
    let prebuilt = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("plugins/prebuilt");
    let names = fs::read_dir(prebuilt).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut drivers: Vec<String> = names.filter_map(|name| name.strip_suffix(".wasm").map(str::to_owned)).collect();
    drivers.sort();
    assert!(drivers.len() > CLIS.len(), "{drivers:?}");
    drivers
}

/// Two models whose CLIs fail: `failing` before any output, `breaking` within its answer. `failing_clis` makes the CLIs.
pub(crate) const FAILING_MODELS: &str = r#"
[models.failing]
driver = "generic"
program = "failing"
[models.breaking]
driver = "generic"
program = "breaking"
options = { answer = "whole" }
"#;

/// Makes the CLIs of `FAILING_MODELS`.
pub(crate) fn failing_clis(machine: &Machine) {
    machine.stand_in("failing", &["say", "--err", "boom", "--exit", "3", ""]);
    machine.stand_in("breaking", &["say", "--err", "boom", "--exit", "3", "half an answer"]);
}

/// The output of Codex for an answer.
pub(crate) fn codex_says(text: &str) -> String {
    let item = json!({"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": text}});
    let done = json!({"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}});
    format!("{item}\n{done}\n")
}
