//! The command line of opencode. The prompt goes to standard input, which is read if the arguments have no message; as an argument it
//! would reach the model in quotes.

use agentbay_plugin_sdk::{Failure, Plan, Turn};

use crate::permission;

/// The command line of a turn.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let mut plan = Plan::new("opencode", ["run", "--format", "json", "--thinking"])
        // Only the log has the errors after which it retries.
        .arg("--print-logs")
        .option("--log-level", "ERROR")?
        // Without it opencode takes the folder from the variable PWD, which may be wrong.
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

/// `OPENCODE_PERMISSION` overrides the configuration of the user and of the repository.
///
/// `OPENCODE_DISABLE_DEFAULT_PLUGINS` is not set: it would remove built-in plugins that some logins need.
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
