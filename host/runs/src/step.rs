//! The steps of a run, as its clients receive them, and its end.

use std::fmt;

use agentbay_domain::{Category, Failure, Outcome, PluginId, Reply, Usage};

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An attempt with this model starts. Sent again when the worktree of the attempt exists.
    Trying {
        /// The model's name.
        model: String,
        /// The ref under which its work is saved, once its worktree exists.
        reference: Option<String>,
    },
    /// The attempt failed, and another follows. No part of an answer was sent; all other steps of the attempt are void.
    Failed(FailedAttempt),
    /// The CLI's own id of the session.
    Session(String),
    /// A step of the answer.
    Reply(Reply),
    /// The plugin failed while it read the output. The answer so far stays; the rest is the output of the CLI as it is.
    PluginFailed(PluginFailed),
    /// The turn is over. This is the last step.
    Ended(Ended),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How the turn ended.
    pub outcome: Outcome,
    /// Tokens used.
    pub usage: Usage,
    /// The CLI did not report its use of tokens, so the numbers are an estimate.
    pub usage_estimated: bool,
}

/// An attempt that failed and was followed by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// The model.
    pub model: String,
    /// Why it failed.
    pub category: Category,
}

/// A plugin that failed while it read the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFailed {
    /// The driver.
    pub driver: PluginId,
}

impl Ended {
    /// The end of a run that failed before it used anything.
    pub(super) fn without_usage(failure: Failure) -> Self {
        Self { outcome: failure.into(), usage: Usage::default(), usage_estimated: true }
    }

    /// The end of a run that a fault of this program lost.
    pub(super) fn lost() -> Self {
        let message = "the run was lost by a fault of AgentBay, whose log has more: try again";
        Self::without_usage(Failure::new(Category::Unknown, message, ""))
    }
}

/// The form for a stream, where headers are already sent.
impl fmt::Display for FailedAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed ({})", self.model, self.category.name())
    }
}

/// The form for a stream, where headers are already sent.
impl fmt::Display for PluginFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the plugin {} failed, what follows is as the CLI printed it", self.driver)
    }
}
