//! Owns the command line of Gemini CLI. The prompt goes to standard input, which is read when there is no `--prompt`.
//!
//! Gemini CLI takes a prompt that begins with `/name` for a command if there is one of this name, also one of the
//! repository's; a space before it makes it a prompt. It puts a file that exists and is named in a prompt, as `@path`, behind
//! the prompt. Both happen in `runNonInteractive`, before the prompt is a request, and no option or setting is asked there. In
//! its Agent Client Protocol mode neither happens to most prompts, but there a failing provider is asked ten times, for
//! minutes, without a word of it; an empty answer is a success; and the session cannot be resumed.
//!
//! Without a model it asks a small one first which to use: one request more for each prompt.

use agentbay_plugin_sdk::{Failure, Permission, Plan, Turn, without_command};

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = Plan::new("gemini", ["--output-format", "stream-json"])
        .option("--approval-mode", approval_mode(turn.permission))?
        // A folder it was not told to trust would end the run at once.
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

/// What is written to standard input.
pub(crate) fn input(turn: &Turn) -> String {
    without_command(&turn.prompt)
}

/// Without a terminal no mode asks: tools that would need to be approved are not offered to the model.
fn approval_mode(permission: Permission) -> &'static str {
    match permission {
        Permission::ReadOnly => "default",
        Permission::WorkspaceWrite => "auto_edit",
        Permission::FullAccess => "yolo",
    }
}
