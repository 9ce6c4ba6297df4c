//! Owns the command line of Copilot. The prompt goes to standard input, which is read when there is no `--prompt`.

use agentbay_plugin_sdk::{Failure, Permission, Plan, Turn};

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = Plan::new("copilot", ["--output-format", "json", "--no-auto-update", "--no-ask-user"])
        // Else the service gets to know the session too, and may let others steer it.
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
        // Its value may be left out, so it has to stand in the same argument.
        Plan::new("", []).value("--resume", session)?;
        plan = plan.arg(&format!("--resume={session}"));
    } else if let Some(id) = new_session(turn) {
        plan = plan.option("--session-id", &id)?;
    }
    Ok(plan)
}

/// The id of a turn's session: that of the run, since Copilot tells one of its own only at the end. None where it resumes a
/// session, or the run has no such id.
pub(crate) fn new_session(turn: &Turn) -> Option<String> {
    let name = turn.run_dir.rsplit('/').next().filter(|_| turn.session.is_none())?;
    uuid(name)
}

/// An id in the only form that Copilot takes. The hyphens may be missing.
pub(crate) fn uuid(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|sign| *sign != '-').collect();
    let is_id = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| digits.get(group).unwrap_or_default());
    is_id.then(|| groups.join("-"))
}

/// Without a terminal what is not allowed is refused, and the model is told. Reading in the folders needs no leave. A
/// denial goes before whatever the user's own settings allow.
fn permissions(permission: Permission) -> &'static [&'static str] {
    match permission {
        Permission::ReadOnly => &["--deny-tool=write", "--deny-tool=shell"],
        // The paths of edits and commands are checked still, and so are URLs.
        Permission::WorkspaceWrite => &["--allow-all-tools"],
        Permission::FullAccess => &["--allow-all"],
    }
}
