//! What a CLI said, as its plugin understood it. Written as JSON it has the form in which recorded runs keep what is
//! expected of them.

use serde::Serialize;

use super::{Outcome, UsageReport};

/// The agent called one of its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ToolCall {
    /// The CLI's id of the call.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON.
    pub input: String,
}

/// A tool answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// What the tool gave back.
    pub output: String,
    /// The tool failed.
    pub is_error: bool,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// For whoever debugs the plugin.
    Debug,
    /// Worth a line in the log.
    Info,
    /// Something went wrong, and the run goes on.
    Warning,
}

/// A remark for the log, never a part of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// The remark.
    pub message: String,
}

/// What has no case of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Extra {
    /// What it is.
    pub kind: String,
    /// Its content as JSON.
    pub json: String,
}

impl Extra {
    /// Whether the plugin asks to wait a moment behind the end of the turn, since more may come.
    pub fn asks_to_settle(&self) -> bool {
        self.kind == "settle"
    }
}

/// What a CLI said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// New text of the answer, never twice.
    Text(String),
    /// A new message of the assistant begins.
    TextBreak,
    /// New text of the agent's reasoning.
    Reasoning(String),
    /// The agent called a tool.
    ToolCall(ToolCall),
    /// A tool answered.
    ToolResult(ToolResult),
    /// The CLI's own id of the session.
    Session(String),
    /// Tokens used.
    Usage(UsageReport),
    /// A remark for the log.
    Notice(Notice),
    /// Text to write to the CLI's standard input.
    Reply(String),
    /// The CLI's standard input is to be closed.
    EndInput,
    /// The turn is over, whatever the process does after it.
    Done(Outcome),
    /// What has no case of its own.
    Extra(Extra),
}

impl Event {
    /// What an event takes besides its text, about.
    pub const COST: u64 = 64;

    /// The bytes that it takes, about.
    pub fn bytes(&self) -> u64 {
        let text = match self {
            Self::Text(text) | Self::Reasoning(text) | Self::Session(text) | Self::Reply(text) => text.len(),
            Self::ToolCall(call) => call.id.len() + call.name.len() + call.input.len(),
            Self::ToolResult(result) => result.id.len() + result.output.len(),
            Self::Notice(notice) => notice.message.len(),
            Self::Extra(extra) => extra.kind.len() + extra.json.len(),
            Self::Done(outcome) => outcome.text_len(),
            Self::TextBreak | Self::Usage(_) | Self::EndInput => 0,
        };
        Self::COST + text as u64
    }

    /// Whether it is a part of what the client is answered.
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Reasoning(_))
    }
}
