//! Owns the command line of Claude Code. The prompt goes to standard input as a `stream-json` message: as plain text it would
//! not arrive as it was sent, for `/name` would run a command of Claude Code in place of asking the model, and `@path` would
//! put a file into the request.

use agentbay_plugin_sdk::{Category, Failure, Permission, Plan, PlanFile, Turn};

/// Where the system instructions are put, in the run's private folder.
const SYSTEM_FILE: &str = "system.md";

/// How long a schema may be: there is no way to give it but as an argument, and Linux ends those at 128 KiB.
const SCHEMA_BYTES: usize = 120 * 1024;

/// Variables of every run. The host retries, so Claude Code need not for minutes; nothing but the model is talked to.
const ENV: [(&str, Option<&str>); 6] = [
    ("CLAUDE_CODE_MAX_RETRIES", Some("1")),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", Some("1")),
    ("DISABLE_AUTOUPDATER", Some("1")),
    ("DISABLE_TELEMETRY", Some("1")),
    ("DISABLE_ERROR_REPORTING", Some("1")),
    // Set in every process that Claude Code itself has started; with it, it refuses to run within itself.
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
        // As an argument it could not be longer than 128 KiB.
        plan.files.push(PlanFile { name: SYSTEM_FILE.into(), text: system.clone() });
        plan = plan.option("--append-system-prompt-file", &format!("{}/{SYSTEM_FILE}", turn.run_dir))?;
    }
    Ok(plan)
}

/// Without a terminal nothing is asked: what a mode does not allow is refused, and the model is told so.
///
/// - Read only: what needs no permission, such as reading, searching and commands that only look; whatever the user's own
///   settings allow beyond that, files are not edited. The mode `plan` is no way to it: it makes the model write a plan.
/// - Write in the workspace: edits of files in the directories; of commands those that only look and those that the user's
///   settings allow. Claude Code has no sandbox for commands, so more would be full access.
/// - Full access: everything. Claude Code refuses that to root, unless the variable `IS_SANDBOX` says that the machine is
///   there for it. To set it is for the user to decide, in `env` of the model.
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
