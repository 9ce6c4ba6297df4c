//! What a run is asked for, and what every run works with.

use std::path::PathBuf;
use std::sync::Arc;

use agentbay_domain::{Conversation, Environment, SessionId};
use agentbay_workspace::Git;

use super::observer::Observer;
use super::queue::Queue;

/// What a client wants to have run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The model's name.
    pub model: String,
    /// What is to be answered.
    pub conversation: Conversation,
    /// The client wants deltas as they come.
    pub partial: bool,
    /// The CLI's session to resume.
    pub session: Option<SessionId>,
}

/// What every run works with.
#[derive(Debug, Clone)]
pub(super) struct Means {
    pub(super) host: Environment,
    pub(super) git: Git,
    /// The folder for the private folders of runs.
    pub(super) runs_dir: PathBuf,
    pub(super) queue: Queue,
    pub(super) observer: Arc<dyn Observer>,
}
