//! The command line of Gemini CLI. The prompt goes to standard input, which is read without `--prompt`.
//!
//! Gemini CLI takes a prompt that starts with `/name` for a command if one of this name exists, in the repository too; a leading space
//! prevents that. It appends an existing file that a prompt names as `@path`. Both happen in `runNonInteractive`, before the prompt is
//! a request, regardless of options or settings. In its Agent Client Protocol mode neither happens to most prompts, but there it
//! retries a failing provider ten times, for minutes and silently; an empty answer is a success; and sessions cannot be resumed.
//!
//! Without a model it first asks a small one which to use: one additional request for each prompt.

use agentbay_plugin_sdk::{Failure, Permission, Plan, Turn, escape_command};

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = Plan::new("gemini", ["--output-format", "stream-json"])
        .option("--approval-mode", approval_mode(turn.permission))?
        // An untrusted folder would end the run at once.
        .arg("--skip-trust");
    if let Some(model) = &turn.model {
        plan = plan.option("--model", model)?;
    }
    for dir in &turn.extra_dirs {
        plan = plan.option("--include-directories", dir)?;
    }
    if let Some(session) = &turn.session {
        plan = plan.option("--resume", session)?;
    }
    Ok(plan)
}

/// The text for standard input.
pub(crate) fn input(turn: &Turn) -> String {
    escape_command(&turn.prompt)
}

/// Without a terminal no mode asks: tools that need approval are not offered to the model.
fn approval_mode(permission: Permission) -> &'static str {
    match permission {
        Permission::ReadOnly => "default",
        Permission::WorkspaceWrite => "auto_edit",
        Permission::FullAccess => "yolo",
    }
}
