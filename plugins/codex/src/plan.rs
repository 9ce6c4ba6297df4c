//! The command line of Codex. The prompt goes to standard input, which the final `-` selects, and arrives unchanged: Codex searches it
//! for neither commands nor files.
//!
//! The number of Codex's retries (5, for 7 to 26 seconds) is a setting of each provider in its configuration (`request_max_retries`,
//! `stream_max_retries`), and fixed for its built-in providers. It is left to the user.

use agentbay_plugin_sdk::{Failure, Permission, Plan, PlanFile, Turn};

/// File of the schema in the run's private folder.
const SCHEMA_FILE: &str = "schema.json";

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = Plan::new("codex", ["exec", "--json"])
        .option("--cd", &turn.workdir)?
        // Codex refuses to run in an unknown repository, or outside of one.
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
    // `--cd`, `--sandbox` and `--add-dir` are options of `exec` and unknown after the subcommand.
    if let Some(session) = &turn.session {
        plan = plan.arg("resume").value("the session", session)?;
    }
    Ok(plan.arg("-"))
}

/// `exec` never asks: the sandbox refuses what it does not allow.
fn sandbox(permission: Permission) -> &'static str {
    match permission {
        Permission::ReadOnly => "read-only",
        Permission::WorkspaceWrite => "workspace-write",
        Permission::FullAccess => "danger-full-access",
    }
}
