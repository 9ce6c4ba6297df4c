//! A tool call as the agent reports it in updates: it is announced before its arguments are known, and each update replaces the
//! fields that it contains. The call is emitted when it runs or ends.

use serde_json::{Map, json};

use crate::{ToolCall, ToolResult, Value, json};

/// A call without a result.
#[derive(Debug, Default)]
pub(crate) struct Tool {
    fields: Map<String, Value>,
    is_emitted: bool,
}

impl Tool {
    /// Merges the fields of an update or of a permission request.
    pub(crate) fn update(&mut self, update: &Value) {
        for name in ["title", "kind", "status", "content", "locations", "rawInput", "rawOutput", "_meta"] {
            if let Some(value) = json::at(update, &[name]).filter(|value| !value.is_null()) {
                self.fields.insert(name.to_owned(), value.clone());
            }
        }
    }

    /// The known fields of the call.
    pub(crate) fn known(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    /// Whether the call has ended.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.text("status"), Some("completed" | "failed"))
    }

    /// Whether the call runs, so that its arguments are known.
    pub(crate) fn is_running(&self) -> bool {
        self.text("status") == Some("in_progress")
    }

    /// The call, once.
    pub(crate) fn call(&mut self, id: &str) -> Option<ToolCall> {
        let is_emitted = std::mem::replace(&mut self.is_emitted, true);
        (!is_emitted).then(|| ToolCall {
            id: id.to_owned(),
            name: self.name().to_owned(),
            input: self.input().to_string(),
        })
    }

    /// The result of the call.
    pub(crate) fn result(&self, id: &str) -> ToolResult {
        let raw = self.field("rawOutput");
        let exit_code = json::integer(raw, &["exitCode"]).or_else(|| json::integer(raw, &["metadata", "exit"]));
        let has_exit_code = exit_code.is_some_and(|code| code != 0);
        ToolResult {
            id: id.to_owned(),
            output: self.output(),
            is_error: has_exit_code || self.text("status") == Some("failed"),
        }
    }

    /// The name by tool or kind, which is stable. The title is for people and changes.
    fn name(&self) -> &str {
        let kind = self.text("kind").filter(|kind| *kind != "other");
        let name = json::text(self.field("_meta"), &["toolName"]).or(kind).or(self.text("title"));
        name.unwrap_or("tool")
    }

    fn input(&self) -> Value {
        let input = self.field("rawInput");
        let is_empty = input.is_null() || input.as_object().is_some_and(Map::is_empty);
        if is_empty {
            json!({ "title": self.field("title"), "locations": self.field("locations") })
        } else {
            input.clone()
        }
    }

    fn output(&self) -> String {
        let content = self.field("content").as_array().map_or(&[][..], Vec::as_slice);
        let shown: Vec<&str> = content.iter().filter_map(shown).collect();
        if !shown.is_empty() {
            return shown.join("\n");
        }
        let raw = self.field("rawOutput");
        let text =
            ["output", "text", "content", "message"].into_iter().find_map(|name| json::non_empty_text(raw, &[name]));
        text.map_or_else(|| json::to_text(&self.known(), &["rawOutput"]), String::from)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.field(name).as_str()
    }

    fn field(&self, name: &str) -> &Value {
        self.fields.get(name).unwrap_or(&Value::Null)
    }
}

/// The text of a block; for a change to a file, its path.
fn shown(block: &Value) -> Option<&str> {
    match json::text(block, &["type"]) {
        Some("diff") => json::non_empty_text(block, &["path"]),
        Some(_) | None => json::non_empty_text(block, &["content", "text"]),
    }
}
