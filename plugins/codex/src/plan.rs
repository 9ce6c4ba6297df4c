//! Owns the command line of Codex. The prompt goes to standard input, which `-` at the end stands for, and arrives as it is:
//! Codex looks for neither commands nor files in it.
//!
//! How often Codex asks its provider again (5 times, for 7 to 26 seconds) is set for each provider in its configuration
//! (`request_max_retries`, `stream_max_retries`), and for its own ones not at all. So it is left to the user.

use agentbay_plugin_sdk::{Failure, Permission, Plan, PlanFile, Turn};

/// Where the schema is put, in the run's private folder.
const SCHEMA_FILE: &str = "schema.json";

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = Plan::new("codex", ["exec", "--json"])
        .option("--cd", &turn.workdir)?
        // A repository that Codex does not know yet, or none, would end the run at once.
        .arg("--skip-git-repo-check")
        .option("--sandbox", sandbox(turn.permission))?;
    if let Some(model) = &turn.model {
        plan = plan.option("--model", model)?;
    }
    for dir in &turn.extra_dirs {
        plan = plan.option("--add-dir", dir)?;
    }
    if let Some(schema) = &turn.output_schema {
        plan.files.push(PlanFile { name: SCHEMA_FILE.into(), text: schema.clone() });
        plan = plan.option("--output-schema", &format!("{}/{SCHEMA_FILE}", turn.run_dir))?;
    }
    // `--cd`, `--sandbox` and `--add-dir` belong to `exec` and are not known behind the subcommand.
    if let Some(session) = &turn.session {
        plan = plan.arg("resume").value("the session", session)?;
    }
    Ok(plan.arg("-"))
}

/// `exec` never asks: what the sandbox does not let through is refused.
fn sandbox(permission: Permission) -> &'static str {
    match permission {
        Permission::ReadOnly => "read-only",
        Permission::WorkspaceWrite => "workspace-write",
        Permission::FullAccess => "danger-full-access",
    }
}
