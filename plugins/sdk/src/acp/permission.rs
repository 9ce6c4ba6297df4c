//! Owns the answers to `session/request_permission`, which come from the turn's `permission` at once: nothing waits for a
//! person. Only a single call is ever allowed or refused, for what is chosen "always" an agent may remember.

use serde_json::json;

use crate::{Permission, Turn, Value, json};

/// What may be done without asking, and where.
#[derive(Debug)]
pub(crate) struct Leave {
    permission: Permission,
    folders: Vec<String>,
}

impl Leave {
    /// What a turn gives leave for.
    pub(crate) fn of(turn: &Turn) -> Self {
        let folders = std::iter::once(&turn.workdir).chain(&turn.extra_dirs);
        Self { permission: turn.permission, folders: folders.cloned().collect() }
    }

    /// Whether a tool call may go on. `call` is what is known of it: its kind, its places, its content.
    pub(crate) fn allows(&self, call: &Value) -> bool {
        match (self.permission, json::text(call, &["kind"])) {
            (Permission::FullAccess, _) | (_, Some("read" | "search" | "think" | "fetch")) => true,
            (Permission::WorkspaceWrite, Some("edit" | "delete" | "move")) => self.is_inside(call),
            // A command can do anything, and nobody here can tell what.
            (Permission::WorkspaceWrite | Permission::ReadOnly, _) => false,
        }
    }

    /// Whether the agent says where it writes, and all of that is in the folders.
    fn is_inside(&self, call: &Value) -> bool {
        let places = json::items(call, &["locations"]).iter().chain(json::items(call, &["content"]));
        let mut paths = places.filter_map(|place| json::text(place, &["path"])).peekable();
        paths.peek().is_some() && paths.all(|path| self.holds(path))
    }

    fn holds(&self, path: &str) -> bool {
        let climbs = path.split('/').any(|name| name == "..");
        !climbs
            && self.folders.iter().any(|folder| {
                let rest = path.strip_prefix(folder.trim_end_matches('/'));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}

/// The result for the agent: the option that fits. Without one the question counts as not answered, which refuses.
pub(crate) fn outcome(is_allowed: bool, options: &[Value]) -> Value {
    let kind = if is_allowed { "allow_once" } else { "reject_once" };
    let option = options.iter().find(|option| json::text(option, &["kind"]) == Some(kind));
    match option.and_then(|option| json::text(option, &["optionId"])) {
        Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
        None => json!({ "outcome": { "outcome": "cancelled" } }),
    }
}
