//! The command line of Copilot. The prompt goes to standard input, which is read without `--prompt`.

use agentbay_plugin_sdk::{Failure, Permission, Plan, Turn};

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = Plan::new("copilot", ["--output-format", "json", "--no-auto-update", "--no-ask-user"])
        // Otherwise the service receives the session too, and may let others control it.
        .arg("--no-remote");
    for flag in permissions(turn.permission) {
        plan = plan.arg(flag);
    }
    if let Some(model) = &turn.model {
        plan = plan.option("--model", model)?;
    }
    for dir in &turn.extra_dirs {
        plan = plan.option("--add-dir", dir)?;
    }
    if let Some(session) = &turn.session {
        // The value is optional, so it has to be in the same argument.
        Plan::new("", []).value("--resume", session)?;
        plan = plan.arg(&format!("--resume={session}"));
    } else if let Some(id) = new_session(turn) {
        plan = plan.option("--session-id", &id)?;
    }
    Ok(plan)
}

/// The id of a turn's session: the run's id, since Copilot reports its own only at the end. `None` if the turn resumes a session, or
/// the run has no such id.
pub(crate) fn new_session(turn: &Turn) -> Option<String> {
    let name = turn.run_dir.rsplit('/').next().filter(|_| turn.session.is_none())?;
    uuid(name)
}

/// An id in the only form that Copilot accepts. The hyphens may be missing.
pub(crate) fn uuid(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|sign| *sign != '-').collect();
    let is_id = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| digits.get(group).unwrap_or_default());
    is_id.then(|| groups.join("-"))
}

/// Without a terminal Copilot refuses what is not allowed, and informs the model. Reading in the folders needs no permission. A denial
/// takes precedence over the user's own settings.
fn permissions(permission: Permission) -> &'static [&'static str] {
    match permission {
        Permission::ReadOnly => &["--deny-tool=write", "--deny-tool=shell"],
        // Copilot still checks the paths of edits and commands, and URLs.
        Permission::WorkspaceWrite => &["--allow-all-tools"],
        Permission::FullAccess => &["--allow-all"],
    }
}
