//! The command line of Qwen Code, and the form of a prompt on its standard input.
//!
//! The prompt is a `stream-json` message, because Qwen Code appends two line feeds to plain text. With an answer schema it accepts
//! plain text only.
//!
//! In that mode Qwen Code takes a prompt that starts with `/name` for a command, and appends an existing file that a prompt names as
//! `@path`. In the Agent Client Protocol it does neither if the first text of the prompt is empty, so such prompts use that mode. It
//! has two faults: an exhausted quota is reported as a rate limit, with an unclear message, and an absolute `@path` of an image in the
//! folder adds the image. It also supports no schema: with one, a leading space keeps `/name` from being a command, and the file of an
//! `@path` is added.

use agentbay_plugin_sdk::claude::user_message;
use agentbay_plugin_sdk::{Category, Failure, Permission, Plan, PlanFile, Turn, escape_command, is_command};

/// Maximum length of a schema: it can only be an argument, which Linux limits to 128 KiB.
const SCHEMA_BYTES: usize = 120 * 1024;

/// Settings with the lowest precedence, so that the user's own apply.
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

/// Whether the mode with one event a line would change the prompt or take it for a command.
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

/// Without a terminal no mode asks: tools that need approval are not offered to the model.
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

/// The text for standard input in the mode with one event a line.
pub(crate) fn input(turn: &Turn) -> String {
    if turn.output_schema.is_some() { escape_command(&turn.prompt) } else { user_message(&turn.prompt) }
}
