//! The turn's permission as opencode's `permission` rules. The last matching rule counts; the JSON written here has sorted names, so
//! that `*` is first.
//!
//! Without a terminal opencode rejects a call that needs approval, and the run ends without an answer. `--auto` approves it. A denied
//! call is reported to the model, which continues. So the levels consist of `--auto` and of denials.

use agentbay_plugin_sdk::{Permission, Turn, Value};

const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// The rules of a turn as JSON; `None` if nothing is denied.
pub(crate) fn rules(turn: &Turn) -> Option<String> {
    let rules = match turn.permission {
        Permission::ReadOnly => read_only(turn),
        Permission::WorkspaceWrite => stay_in_folders(turn),
        Permission::FullAccess => return None,
    };
    Some(object(rules).to_string())
}

/// Whether calls that need approval are approved.
pub(crate) fn is_auto(permission: Permission) -> bool {
    match permission {
        Permission::ReadOnly => false,
        Permission::WorkspaceWrite | Permission::FullAccess => true,
    }
}

/// Everything that is not known to be read-only is denied, including tools of MCP servers.
fn read_only(turn: &Turn) -> Vec<(String, Value)> {
    let looking = ["glob", "grep", "list", "lsp", "skill", "task", "todoread", "todowrite", "webfetch", "websearch"];
    let mut rules = vec![rule("*", DENY), rule("edit", DENY), rule("bash", DENY)];
    rules.extend(looking.map(|tool| rule(tool, ALLOW)));
    rules.extend(stay_in_folders(turn));
    rules
}

/// Everything that needs approval by default is denied: folders other than the turn's, files with secrets, and repetitions of the same
/// call. Of a command opencode checks only the paths among the arguments; it has no sandbox.
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
