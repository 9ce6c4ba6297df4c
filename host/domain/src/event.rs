//! Events that a plugin reads from a CLI's output. Their JSON form is the one of the expected events (`golden.json`)
//! of recorded runs.

use serde::Serialize;

use super::{Outcome, UsageReport};

/// A call by the agent of one of its tools.
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

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The tool's output.
    pub output: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// The importance of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// For debugging the plugin.
    Debug,
    /// Worth a line in the log.
    Info,
    /// Something went wrong, but the run continues.
    Warning,
}

/// A message for the log, never part of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Its importance.
    pub level: Level,
    /// The text.
    pub message: String,
}

/// An extension: data that has no case of its own in [`Event`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Extra {
    /// Its kind.
    pub kind: String,
    /// Its content as JSON.
    pub json: String,
}

impl Extra {
    /// Returns whether the plugin requests a short wait after the end of the turn, because more output may follow.
    pub fn requests_settle(&self) -> bool {
        self.kind == "settle"
    }
}

/// An event of a CLI, as its plugin reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// New text of the answer. No text is reported twice.
    Text(String),
    /// A new message of the assistant begins.
    TextBreak,
    /// New text of the agent's reasoning.
    Reasoning(String),
    /// A tool call.
    ToolCall(ToolCall),
    /// The result of a tool call.
    ToolResult(ToolResult),
    /// The CLI's own id of the session.
    Session(String),
    /// Tokens used.
    Usage(UsageReport),
    /// A message for the log.
    Notice(Notice),
    /// Text to write to the CLI's standard input.
    Reply(String),
    /// A request to close the CLI's standard input.
    EndInput,
    /// The end of the turn, regardless of what the process does after it.
    Done(Outcome),
    /// An extension.
    Extra(Extra),
}

impl Event {
    /// Approximate bytes of memory that an event takes in addition to its text.
    pub const OVERHEAD: u64 = 64;

    /// The approximate bytes of memory that it takes.
    pub fn size(&self) -> u64 {
        let text = match self {
            Self::Text(text) | Self::Reasoning(text) | Self::Session(text) | Self::Reply(text) => text.len(),
            Self::ToolCall(call) => call.id.len() + call.name.len() + call.input.len(),
            Self::ToolResult(result) => result.id.len() + result.output.len(),
            Self::Notice(notice) => notice.message.len(),
            Self::Extra(extra) => extra.kind.len() + extra.json.len(),
            Self::Done(outcome) => outcome.text_len(),
            Self::TextBreak | Self::Usage(_) | Self::EndInput => 0,
        };
        Self::OVERHEAD + text as u64
    }

    /// Returns whether it is part of the answer to the client.
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Reasoning(_))
    }
}
