//! Where runs begin, and what their callers hold of them.

use std::path::PathBuf;

use tokio::sync::mpsc;
use tracing::Instrument;

use super::error::UnknownModel;
use super::pipeline::{self, Job};
use super::route::route;
use crate::domain::{Conversation, Event, Outcome, RunId, SessionId, Usage};
use crate::plugin::Snapshots;
use crate::process::HostVariables;
use crate::task::Tasks;
use crate::workspace::Git;

/// How many events may wait for the client. More wait in the pipe, where they hold the CLI back.
const WAITING_EVENTS: usize = 64;

/// Starts runs.
#[derive(Debug, Clone)]
pub struct Runner {
    snapshots: Snapshots,
    means: Means,
    tasks: Tasks,
}

/// What every run works with.
#[derive(Debug, Clone)]
pub(super) struct Means {
    pub(super) host: HostVariables,
    pub(super) git: Git,
    /// The folder for the private folders of runs.
    pub(super) runs_dir: PathBuf,
}

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

/// A run that goes on as long as this is held. Dropping it ends the CLI and all it started.
#[derive(Debug)]
pub struct Run {
    id: RunId,
    steps: mpsc::Receiver<Step>,
}

/// What comes of a run, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The agent said something.
    Event(Event),
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

impl Runner {
    /// A runner for the models of whatever snapshot is the newest when a request comes.
    pub fn new(snapshots: Snapshots, host: HostVariables, runs_dir: PathBuf, tasks: Tasks) -> Self {
        let git = Git::new(host.clone());
        Self { snapshots, means: Means { host, git, runs_dir }, tasks }
    }

    /// Starts a run.
    ///
    /// # Errors
    /// No model has the name. Everything else that can go wrong is told by the run.
    pub fn start(&self, request: Request) -> Result<Run, UnknownModel> {
        let route = route(self.snapshots.newest(), &request.model)?;
        let id = RunId::new();
        let (sender, steps) = mpsc::channel(WAITING_EVENTS);
        let job = Job { id, route, request, means: self.means.clone(), stopping: self.tasks.stopping() };
        self.tasks.spawn(pipeline::carry_out(job, sender).in_current_span());
        Ok(Run { id, steps })
    }
}

impl Run {
    /// The run's name.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// What comes next, or nothing after the end.
    pub async fn next(&mut self) -> Option<Step> {
        self.steps.recv().await
    }
}
