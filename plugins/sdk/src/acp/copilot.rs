//! Text that Copilot sends as messages of the model: notices about retries, and the error that ended the turn, which it reports as
//! a success. Only an answer of the model comes with a token count.

use crate::{Value, json};

const NOTICES: [&str; 3] =
    ["Info: Request failed due to ", "Info: Response was interrupted ", "Info: Operation cancelled by user"];
const ERROR: &str = "Error: ";

/// The kind of a piece of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// Text of the model.
    Answer,
    /// A notice for the log.
    Notice,
    /// An error, unless the result of the turn has a token count.
    PossibleError,
}

/// Classifies the messages of one agent.
#[derive(Debug, Default)]
pub(crate) struct CopilotMessages {
    is_copilot: bool,
}

impl CopilotMessages {
    /// Reads the answer to `initialize`, which names the agent.
    pub(crate) fn of(result: &Value) -> Self {
        Self { is_copilot: json::text(result, &["agentInfo", "name"]) == Some("Copilot") }
    }

    /// The kind of a piece of a message.
    pub(crate) fn kind(&self, text: &str) -> MessageKind {
        if !self.is_copilot {
            MessageKind::Answer
        } else if NOTICES.iter().any(|notice| text.starts_with(notice)) {
            MessageKind::Notice
        } else if text.starts_with(ERROR) {
            MessageKind::PossibleError
        } else {
            MessageKind::Answer
        }
    }
}

/// The text of the error that ended a turn, if its last message is one. `result` is the answer to `session/prompt`.
pub(crate) fn error<'a>(last_message: &'a str, result: &Value) -> Option<&'a str> {
    if json::at(result, &["usage"]).is_some() { None } else { last_message.strip_prefix(ERROR) }
}
