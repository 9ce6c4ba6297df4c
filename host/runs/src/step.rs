//! What comes of a run, in the order in which it comes, and how it ends.

use std::fmt;

use agentbay_domain::{Category, Failure, Outcome, PluginId, Reply, Usage};

/// What comes of a run, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// This model is tried. Comes before anything is heard of it, and once more when a worktree of its own is there.
    Trying {
        /// The model's name.
        model: String,
        /// The ref under which what it leaves is saved, if it works in a worktree of its own and that is there.
        reference: Option<String>,
    },
    /// The try failed, and another follows. Of what was heard of it nothing was part of an answer, and all is void.
    Failed(FailedTry),
    /// The CLI's own id of the session.
    Session(String),
    /// A step of the answer.
    Reply(Reply),
    /// The plugin failed in the middle of what it read. What was heard stands; what follows is as the CLI printed it.
    PluginFailed(PluginFailed),
    /// The turn is over. Nothing comes after it.
    Ended(Ended),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How the turn ended.
    pub outcome: Outcome,
    /// Tokens used.
    pub usage: Usage,
    /// The CLI told nothing of its use of tokens, so they are a guess.
    pub usage_estimated: bool,
}

/// A try that failed and was followed by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedTry {
    /// The model.
    pub model: String,
    /// Why it failed.
    pub category: Category,
}

/// A plugin that failed in the middle of what it read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFailed {
    /// The driver.
    pub driver: PluginId,
}

impl Ended {
    /// How a run ended that nobody carries out any more, by a fault of this program: nothing tells how it would have.
    pub(super) fn lost() -> Self {
        let message = "the run was lost by a fault of AgentBay, whose log has more: try again";
        let failure = Failure::new(Category::Unknown, message, "");
        Self { outcome: failure.into(), usage: Usage::default(), usage_estimated: true }
    }
}

/// As it is told where no header can.
impl fmt::Display for FailedTry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed ({})", self.model, self.category.name())
    }
}

/// As it is told where no header can.
impl fmt::Display for PluginFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the plugin {} failed, what follows is as the CLI printed it", self.driver)
    }
}
