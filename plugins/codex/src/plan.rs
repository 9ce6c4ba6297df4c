//! Owns the command line of Codex. The prompt goes to standard input, which `-` at the end stands for.

use agentbay_plugin_sdk::{Failure, Permission, Plan, Turn};

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
