//! The request for a run, and what all runs work with.

use std::path::PathBuf;
use std::sync::Arc;

use agentbay_domain::{Ask, Conversation, Environment, SessionId};
use agentbay_workspace::Git;

use super::observer::Observer;
use super::queue::Queue;

/// A request for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The model's name.
    pub model: String,
    /// The conversation to answer.
    pub conversation: Conversation,
    /// What the answer must be like.
    pub ask: Ask,
    /// The client reads the answer as a stream.
    pub partial: bool,
    /// The CLI's session to resume.
    pub session: Option<SessionId>,
}

/// What all runs work with.
#[derive(Debug, Clone)]
pub(super) struct RunContext {
    pub(super) host: Environment,
    pub(super) git: Git,
    /// The folder for the private folders of runs.
    pub(super) runs_dir: PathBuf,
    pub(super) queue: Queue,
    pub(super) observer: Arc<dyn Observer>,
}
