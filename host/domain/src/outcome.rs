//! How a turn and a process ended: two things, which need not agree.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::Failure;

/// Why the agent stopped talking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// It had finished.
    EndTurn,
    /// It had used up its steps.
    MaxTurns,
    /// It had used up its tokens.
    MaxTokens,
    /// It refused.
    Refusal,
}

/// How a turn ended. `answer` is the whole answer, for a CLI that told it only at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The agent answered.
    Finished {
        /// Why it stopped talking.
        stop: Stop,
        /// The answer, used only if no text came before.
        answer: Option<String>,
    },
    /// The turn failed; an answer is what there was of one.
    Failed {
        /// Why.
        failure: Failure,
        /// What there was of an answer, used only if no text came before.
        answer: Option<String>,
    },
}

impl Outcome {
    /// The bytes of its text.
    pub fn text_len(&self) -> usize {
        let (answer, failure) = match self {
            Self::Finished { answer, .. } => (answer, None),
            Self::Failed { failure, answer } => (answer, Some(failure)),
        };
        let failed = failure.map_or(0, |failure| failure.message.len() + failure.detail.len());
        answer.as_ref().map_or(0, String::len) + failed
    }
}

/// As `record outcome` of the contract: one form for both.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (stop, failure, answer) = match self {
            Self::Finished { stop, answer } => (*stop, None, answer),
            Self::Failed { failure, answer } => (Stop::EndTurn, Some(failure), answer),
        };
        let mut record = serializer.serialize_struct("Outcome", 3)?;
        record.serialize_field("answer", answer)?;
        record.serialize_field("failure", &failure)?;
        record.serialize_field("stop", &stop)?;
        record.end()
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::Failed { failure, answer: None }
    }
}

/// Why the host ended a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillReason {
    /// The client went away.
    Cancelled,
    /// It ran for too long.
    Timeout,
    /// It said nothing for too long.
    Idle,
    /// It said too much.
    OutputLimit,
    /// The host stops.
    Shutdown,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that the host did not send.
    Signal(i32),
    /// By the host.
    Killed(KillReason),
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Killed(_) => f.write_str("killed"),
        }
    }
}
