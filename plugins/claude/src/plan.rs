//! The command line of Claude Code. The prompt goes to standard input as a `stream-json` message. Plain text would not arrive
//! unchanged: `/name` would run a command of Claude Code instead of asking the model, and `@path` would add a file to the request.

use agentbay_plugin_sdk::{Category, Failure, Permission, Plan, PlanFile, Turn};

/// File of the system instructions in the run's private folder.
const SYSTEM_FILE: &str = "system.md";

/// Maximum length of a schema: it can only be an argument, which Linux limits to 128 KiB.
const SCHEMA_BYTES: usize = 120 * 1024;

/// Variables of every run. The host retries, so Claude Code need not do so for minutes; only the model is contacted.
const ENV: [(&str, Option<&str>); 6] = [
    ("CLAUDE_CODE_MAX_RETRIES", Some("1")),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", Some("1")),
    ("DISABLE_AUTOUPDATER", Some("1")),
    ("DISABLE_TELEMETRY", Some("1")),
    ("DISABLE_ERROR_REPORTING", Some("1")),
    // Claude Code sets it for its child processes, and refuses to run where it is set.
    ("CLAUDECODE", None),
];

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let formats = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    let mut plan = Plan::new("claude", formats);
    plan.env = ENV.iter().map(|(name, value)| ((*name).into(), value.map(String::from))).collect();
    if turn.partial {
        plan = plan.arg("--include-partial-messages");
    }
    plan = permission(plan, turn.permission)?;
    if let Some(model) = &turn.model {
        plan = plan.option("--model", model)?;
    }
    for dir in &turn.extra_dirs {
        plan = plan.option("--add-dir", dir)?;
    }
    if let Some(session) = &turn.session {
        plan = plan.option("--resume", session)?;
    }
    if let Some(schema) = &turn.output_schema {
        plan = plan.option("--json-schema", short(schema)?)?;
    }
    if let Some(system) = &turn.system {
        // An argument would be limited to 128 KiB.
        plan.files.push(PlanFile { name: SYSTEM_FILE.into(), text: system.clone() });
        plan = plan.option("--append-system-prompt-file", &format!("{}/{SYSTEM_FILE}", turn.run_dir))?;
    }
    Ok(plan)
}

/// Without a terminal Claude Code asks nothing: it refuses what a mode does not allow, and informs the model.
///
/// - Read only: operations without permission checks, such as reading, searching and read-only commands. Files are not edited, even
///   if the user's own settings allow it. The mode `plan` is unsuitable: it makes the model write a plan.
/// - Write in the workspace: edits of files in the directories; read-only commands, and those that the user's settings allow. Claude
///   Code has no sandbox for commands, so more would be full access.
/// - Full access: everything. Claude Code refuses that to root, unless the variable `IS_SANDBOX` declares the machine a sandbox. Only
///   the user can decide to set it, in `env` of the model.
fn permission(plan: Plan, permission: Permission) -> Result<Plan, Failure> {
    let mode = match permission {
        Permission::ReadOnly => "dontAsk",
        Permission::WorkspaceWrite => "acceptEdits",
        Permission::FullAccess => "bypassPermissions",
    };
    let plan = plan.option("--permission-mode", mode)?;
    match permission {
        Permission::ReadOnly => plan.option("--disallowedTools", "Edit,Write,NotebookEdit"),
        Permission::WorkspaceWrite | Permission::FullAccess => Ok(plan),
    }
}

fn short(schema: &str) -> Result<&str, Failure> {
    if schema.len() <= SCHEMA_BYTES {
        return Ok(schema);
    }
    let message = format!("Claude Code takes no schema of more than {SCHEMA_BYTES} bytes");
    Err(Failure::new(Category::Validation, message, ""))
}
