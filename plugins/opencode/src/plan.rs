//! Owns the command line of opencode. The prompt goes to standard input, which is read when there is no message among the
//! arguments; as an argument it would reach the model in quotes.

use agentbay_plugin_sdk::{Failure, Plan, Turn};

use crate::permission;

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = Plan::new("opencode", ["run", "--format", "json", "--thinking"])
        // What it retries after is told nowhere else.
        .arg("--print-logs")
        .option("--log-level", "ERROR")?
        // Without it the folder is taken from the variable PWD, which a parent process may have left wrong.
        .option("--dir", &turn.workdir)?;
    if permission::is_auto(turn.permission) {
        plan = plan.arg("--auto");
    }
    if let Some(model) = &turn.model {
        plan = plan.option("--model", model)?;
    }
    if let Some(session) = &turn.session {
        plan = plan.option("--session", session)?;
    }
    plan.env = environment(turn);
    Ok(plan)
}

/// `OPENCODE_PERMISSION` is laid over the configuration of the user and of the repository.
///
/// `OPENCODE_DISABLE_DEFAULT_PLUGINS` is not set: what it takes away are built-in plugins, with which some logins work.
fn environment(turn: &Turn) -> Vec<(String, Option<String>)> {
    // A run installs nothing: neither another version of the CLI, nor language servers.
    let mut variables = vec![
        ("OPENCODE_DISABLE_AUTOUPDATE".to_owned(), Some("1".to_owned())),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD".to_owned(), Some("1".to_owned())),
    ];
    if let Some(rules) = permission::rules(turn) {
        variables.push(("OPENCODE_PERMISSION".to_owned(), Some(rules)));
    }
    variables
}
