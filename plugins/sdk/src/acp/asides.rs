//! Owns what Copilot says in the model's name, though the model did not: remarks about retries, and the error that ended the
//! turn. It tells both as messages, and calls such a turn a good end. A model's own words come with a count of its tokens.

use crate::{Value, json};

const REMARKS: [&str; 3] =
    ["Info: Request failed due to ", "Info: Response was interrupted ", "Info: Operation cancelled by user"];
const ERROR: &str = "Error: ";

/// A piece of a message, judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The model said it.
    Answer,
    /// A remark for the log.
    Remark,
    /// An error, unless the turn turns out to be one of the model.
    Suspect,
}

/// Judges what one agent says.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    is_copilot: bool,
}

impl Asides {
    /// Takes the answer to `initialize`, which names the agent.
    pub(crate) fn of(result: &Value) -> Self {
        Self { is_copilot: json::text(result, &["agentInfo", "name"]) == Some("Copilot") }
    }

    /// What a piece of a message is.
    pub(crate) fn judge(&self, text: &str) -> Judgement {
        if !self.is_copilot {
            Judgement::Answer
        } else if REMARKS.iter().any(|remark| text.starts_with(remark)) {
            Judgement::Remark
        } else if text.starts_with(ERROR) {
            Judgement::Suspect
        } else {
            Judgement::Answer
        }
    }
}

/// The words of the error that ended a turn, if its last message is one. `result` is the answer to `session/prompt`.
pub(crate) fn error<'a>(suspect: &'a str, result: &Value) -> Option<&'a str> {
    if json::at(result, &["usage"]).is_some() { None } else { suspect.strip_prefix(ERROR) }
}
