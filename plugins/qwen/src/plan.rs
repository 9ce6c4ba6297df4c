//! Owns the command line of Qwen Code, and how a prompt is written to its standard input.
//!
//! The prompt goes in as a `stream-json` message, since two line feeds are added to one in plain text. Where an answer has to
//! follow a schema, Qwen Code takes plain text only.
//!
//! In that mode Qwen Code takes a prompt that begins with `/name` for a command, and puts a file that exists and is named in a
//! prompt, as `@path`, behind the prompt. In the Agent Client Protocol it does neither, if the first text of the prompt is
//! empty; so such prompts go that way. It has two faults: a spent allowance is told as a rate limit, in words that tell
//! nothing, and an `@path` of an image in the folder, if it is absolute, brings the image along. Nor can it have a schema: with
//! one a space before the `/name` makes a prompt of it, and the file of an `@path` goes with it.

use agentbay_plugin_sdk::claude::user_message;
use agentbay_plugin_sdk::{Category, Failure, Permission, Plan, PlanFile, Turn, is_command, without_command};

/// How long a schema may be: there is no way to give it but as an argument, and Linux ends those at 128 KiB.
const SCHEMA_BYTES: usize = 120 * 1024;

/// Settings of lowest rank, so that the user's own win.
const DEFAULTS_FILE: &str = "qwen-defaults.json";

/// The host retries. Qwen Code itself would wait a minute between ten attempts.
const DEFAULTS: &str = r#"{"model":{"generationConfig":{"maxRetries":0}}}"#;

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = if needs_dialogue(turn) { Plan::new("qwen", ["--acp"]) } else { lines(turn)? };
    plan = plan.option("--approval-mode", approval_mode(turn.permission))?;
    if let Some(model) = &turn.model {
        plan = plan.option("--model", model)?;
    }
    for dir in &turn.extra_dirs {
        plan = plan.option("--include-directories", dir)?;
    }
    if let Some(session) = turn.session.as_ref().filter(|_| !needs_dialogue(turn)) {
        plan = plan.option("--resume", session)?;
    }
    plan.files.push(PlanFile { name: DEFAULTS_FILE.into(), text: DEFAULTS.into() });
    let defaults = format!("{}/{DEFAULTS_FILE}", turn.run_dir);
    plan.env.push(("QWEN_CODE_SYSTEM_DEFAULTS_PATH".into(), Some(defaults)));
    Ok(plan)
}

/// Whether the prompt would be changed or taken for a command in the mode with one event a line.
pub(crate) fn needs_dialogue(turn: &Turn) -> bool {
    turn.output_schema.is_none() && (is_command(&turn.prompt) || turn.prompt.contains('@'))
}

/// The mode with one event a line.
fn lines(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = Plan::new("qwen", ["--output-format", "stream-json"]);
    if let Some(schema) = &turn.output_schema {
        plan = plan.option("--json-schema", short(schema)?)?;
    } else {
        plan = plan.arg("--input-format").arg("stream-json");
    }
    Ok(if turn.partial { plan.arg("--include-partial-messages") } else { plan })
}

/// Without a terminal no mode asks: tools that would need to be approved are not offered to the model.
fn approval_mode(permission: Permission) -> &'static str {
    match permission {
        Permission::ReadOnly => "default",
        Permission::WorkspaceWrite => "auto-edit",
        Permission::FullAccess => "yolo",
    }
}

fn short(schema: &str) -> Result<&str, Failure> {
    if schema.len() <= SCHEMA_BYTES {
        return Ok(schema);
    }
    let message = format!("Qwen Code takes no schema of more than {SCHEMA_BYTES} bytes");
    Err(Failure::new(Category::Validation, message, ""))
}

/// What is written to standard input in the mode with one event a line.
pub(crate) fn input(turn: &Turn) -> String {
    if turn.output_schema.is_some() { without_command(&turn.prompt) } else { user_message(&turn.prompt) }
}
