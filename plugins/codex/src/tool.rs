//! Items of Codex's events that are tool calls, with their results. They keep Codex's names.

use agentbay_plugin_sdk::{ToolCall, ToolResult, Value, json};

/// An item that is a tool call.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) id: String,
    name: String,
    input: Value,
    output: String,
    is_error: bool,
}

impl Tool {
    /// The tool call of an item event; `None` if the item is something else.
    pub(crate) fn of(event: &Value) -> Option<Self> {
        let item = json::at(event, &["item"])?;
        let kind = kind(event)?;
        let only = |name: &str| {
            let value = json::at(item, &[name]).cloned().unwrap_or(Value::Null);
            Value::Object([(name.to_owned(), value)].into_iter().collect())
        };
        let (name, input, output) = match kind {
            "command_execution" => (kind.to_owned(), only("command"), json::to_text(item, &["aggregated_output"])),
            "file_change" => (kind.to_owned(), only("changes"), String::new()),
            "web_search" => (kind.to_owned(), only("query"), String::new()),
            "mcp_tool_call" => {
                let name = format!("{}.{}", json::to_text(item, &["server"]), json::to_text(item, &["tool"]));
                (name, json::at(item, &["arguments"]).cloned().unwrap_or(Value::Null), mcp_output(item))
            }
            "collab_tool_call" => (json::to_text(item, &["tool"]), only("prompt"), String::new()),
            _ => return None,
        };
        let exit_code = json::integer(item, &["exit_code"]).unwrap_or(0);
        let is_error = exit_code != 0 || matches!(json::text(item, &["status"]), Some("failed" | "declined"));
        Some(Self { id: json::id(item, &["id"]), name, input, output, is_error })
    }

    pub(crate) fn call(&self) -> ToolCall {
        ToolCall { id: self.id.clone(), name: self.name.clone(), input: self.input.to_string() }
    }

    pub(crate) fn result(self) -> ToolResult {
        ToolResult { id: self.id, output: self.output, is_error: self.is_error }
    }
}

/// The kind of an item event's item. Versions of late 2025 use another field.
pub(crate) fn kind(event: &Value) -> Option<&str> {
    let item = json::at(event, &["item"])?;
    json::text(item, &["type"]).or_else(|| json::text(item, &["item_type"]))
}

fn mcp_output(item: &Value) -> String {
    let content = json::at(item, &["result", "content"]);
    let failure = || json::to_text(item, &["error", "message"]);
    content.map_or_else(failure, |content| json::content_text(content).unwrap_or_else(|| content.to_string()))
}
