//! Owns what opencode's agent may do without asking, as its `permission` rules. The last rule that fits counts; in JSON that
//! is made here names are sorted, so that `*` comes first.
//!
//! Without a terminal a call that is asked about is rejected, and the run then ends without an answer. With `--auto` it is
//! let through. Of a call that is denied the model is told, and goes on. So the levels are made of `--auto` and of denials.

use agentbay_plugin_sdk::{Permission, Turn, Value};

const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// The rules of a turn as JSON; none if there is nothing to deny.
pub(crate) fn rules(turn: &Turn) -> Option<String> {
    let rules = match turn.permission {
        Permission::ReadOnly => read_only(turn),
        Permission::WorkspaceWrite => stay_in_folders(turn),
        Permission::FullAccess => return None,
    };
    Some(object(rules).to_string())
}

/// Whether calls that are asked about are let through.
pub(crate) fn is_auto(permission: Permission) -> bool {
    match permission {
        Permission::ReadOnly => false,
        Permission::WorkspaceWrite | Permission::FullAccess => true,
    }
}

/// What is not known to only look is denied, tools of MCP servers with it.
fn read_only(turn: &Turn) -> Vec<(String, Value)> {
    let looking = ["glob", "grep", "list", "lsp", "skill", "task", "todoread", "todowrite", "webfetch", "websearch"];
    let mut rules = vec![rule("*", DENY), rule("edit", DENY), rule("bash", DENY)];
    rules.extend(looking.map(|tool| rule(tool, ALLOW)));
    rules.extend(stay_in_folders(turn));
    rules
}

/// What opencode asks about by itself is denied: folders other than the turn's, files that hold secrets, and the same call
/// again and again. Of a command it checks the paths among the arguments; it has no sandbox.
fn stay_in_folders(turn: &Turn) -> Vec<(String, Value)> {
    let mut folders = vec![rule("*", DENY)];
    folders.extend(turn.extra_dirs.iter().map(|dir| rule(&format!("{}/*", dir.trim_end_matches('/')), ALLOW)));
    let files = [rule("*", ALLOW), rule("*.env", DENY), rule("*.env.*", DENY), rule("*.env.example", ALLOW)];
    vec![
        ("external_directory".to_owned(), object(folders)),
        ("read".to_owned(), object(files)),
        rule("doom_loop", DENY),
    ]
}

fn rule(name: &str, action: &str) -> (String, Value) {
    (name.to_owned(), Value::from(action))
}

fn object(rules: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::Object(rules.into_iter().collect())
}
