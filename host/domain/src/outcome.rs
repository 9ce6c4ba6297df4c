//! The end of a turn and the end of a process. They may differ: a CLI may exit with 1 after a complete answer.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::Failure;

/// Why the agent stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// It finished its answer.
    EndTurn,
    /// It reached its limit of steps.
    MaxTurns,
    /// It reached its limit of tokens, or the client's.
    MaxTokens,
    /// Its text reached this text, before which the client ends the answer. A CLI never reports it.
    StopSequence(String),
    /// It refused to answer.
    Refusal,
}

/// How a turn ended. `answer` is the whole answer of a CLI that reports it only at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The agent answered.
    Finished {
        /// Why the agent stopped.
        stop: StopReason,
        /// The answer, used only if no text arrived before.
        answer: Option<String>,
    },
    /// The turn failed, perhaps after a part of the answer.
    Failed {
        /// The reason.
        failure: Failure,
        /// The partial answer, used only if no text arrived before.
        answer: Option<String>,
    },
}

impl Outcome {
    /// The length of its texts in bytes.
    pub fn text_len(&self) -> usize {
        let (answer, failure) = match self {
            Self::Finished { answer, .. } => (answer, None),
            Self::Failed { failure, answer } => (answer, Some(failure)),
        };
        let failed = failure.map_or(0, |failure| failure.message.len() + failure.detail.len());
        answer.as_ref().map_or(0, String::len) + failed
    }
}

/// Has the form of `record outcome` of the contract for both cases.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (stop, failure, answer) = match self {
            Self::Finished { stop, answer } => (stop, None, answer),
            Self::Failed { failure, answer } => (&StopReason::EndTurn, Some(failure), answer),
        };
        let mut record = serializer.serialize_struct("Outcome", 3)?;
        record.serialize_field("answer", answer)?;
        record.serialize_field("failure", &failure)?;
        record.serialize_field("stop", stop)?;
        record.end()
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::Failed { failure, answer: None }
    }
}

/// Why the host killed a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillReason {
    /// The client disconnected or cancelled the run.
    Cancelled,
    /// Its time limit expired.
    Timeout,
    /// It printed nothing for too long.
    Idle,
    /// It printed too much.
    OutputLimit,
    /// The server is stopping.
    Shutdown,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It exited with this code.
    Code(i32),
    /// A signal killed it that the host did not send.
    Signal(i32),
    /// The host killed it.
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
