//! Answers to `session/request_permission`, given at once by the turn's `permission`: no person is asked. Only the single call is
//! ever allowed or refused, because an agent may remember an answer for "always".

use serde_json::json;

use crate::{Permission, Turn, Value, json};

/// The operations that are allowed without asking, and the folders where.
#[derive(Debug)]
pub(crate) struct PermissionPolicy {
    permission: Permission,
    folders: Vec<String>,
}

impl PermissionPolicy {
    /// The policy of a turn.
    pub(crate) fn of(turn: &Turn) -> Self {
        let folders = std::iter::once(&turn.workdir).chain(&turn.extra_dirs);
        Self { permission: turn.permission, folders: folders.cloned().collect() }
    }

    /// Whether a tool call is allowed. `call` has its known fields: kind, locations, content.
    pub(crate) fn allows(&self, call: &Value) -> bool {
        match (self.permission, json::text(call, &["kind"])) {
            (Permission::FullAccess, _) | (_, Some("read" | "search" | "think" | "fetch")) => true,
            (Permission::WorkspaceWrite, Some("edit" | "delete" | "move")) => self.is_inside(call),
            // The effects of a command are unknown.
            (Permission::WorkspaceWrite | Permission::ReadOnly, _) => false,
        }
    }

    /// Whether the call names the files that it writes, and all of them are in the folders.
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

/// The result for the agent: the matching option. Without one the request counts as cancelled, which refuses the call.
pub(crate) fn outcome(is_allowed: bool, options: &[Value]) -> Value {
    let kind = if is_allowed { "allow_once" } else { "reject_once" };
    let option = options.iter().find(|option| json::text(option, &["kind"]) == Some(kind));
    match option.and_then(|option| json::text(option, &["optionId"])) {
        Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
        None => json!({ "outcome": { "outcome": "cancelled" } }),
    }
}
