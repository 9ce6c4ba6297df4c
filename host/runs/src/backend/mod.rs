//! Backends: what carries out one attempt of a run, with a case for each kind of target. The set is closed.
//! What all runs share (queue, time limits, retries, feed) is not here.

pub(super) mod cli;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use agentbay_domain::{Environment, Failure, KillReason, Model, Outcome, PluginId, Reply, RunId, SessionId, Target};
use tokio::time::Instant;

use super::context::{Request, RunContext};
use super::delivery::{Delivery, FormatCheck};
use super::queue::{Occupied, Slot};
use super::scope::{RunScope, interruption};
use super::snapshot::Snapshot;
use super::step::{Ended, Step};
use cli::Cli;

/// What carries out the attempts of a model, as one snapshot has it.
#[derive(Debug)]
pub(super) enum Backend {
    /// A CLI agent in a repository.
    Cli(Cli),
}

/// One attempt of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) run: RunId,
    /// Its own id: a CLI that names a session after it must not resume that of a failed attempt.
    pub(super) id: RunId,
    pub(super) model: &'a Model,
    pub(super) request: &'a Request,
    /// Set if the answer has a format.
    pub(super) check: Option<&'a Arc<FormatCheck>>,
    pub(super) context: &'a RunContext,
    pub(super) scope: RunScope<'a>,
    /// The end of the model's time.
    pub(super) deadline: Instant,
    /// Another attempt may follow if this one fails.
    pub(super) may_be_followed: bool,
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) struct Attempted {
    pub(super) ended: Ended,
    /// Another attempt can follow: no part of an answer was sent, and one is still wanted.
    pub(super) may_retry: bool,
    pub(super) cleanup: Option<Cleanup>,
}

/// What an attempt has left to release after it is answered.
pub(super) enum Cleanup {
    /// A process and what it worked in.
    Cli(Box<cli::Cleanup>),
    /// It is being discarded.
    Discarding(Discarding),
}

/// Discards what an attempt left. Returns whether nothing remains.
pub(super) type Discarding = Pin<Box<dyn Future<Output = bool> + Send>>;

impl Backend {
    /// The backend of a model.
    pub(super) fn of(model: &Model, snapshot: &Snapshot) -> Self {
        match &model.target {
            Target::Cli(target) => Self::Cli(Cli::new(Arc::clone(target), &model.name, snapshot)),
        }
    }

    /// The driver, by which users know what carries out a run.
    pub(super) fn driver(&self) -> &PluginId {
        match self {
            Self::Cli(cli) => cli.driver(),
        }
    }

    /// Whether a session of the other can be resumed here.
    pub(super) fn shares_sessions_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cli(cli), Self::Cli(other)) => cli.driver() == other.driver(),
        }
    }

    /// The state of the credentials that it depends on.
    pub(super) fn logins(&self, host: &Environment) -> impl std::hash::Hash + use<> {
        match self {
            Self::Cli(cli) => cli.logins(host),
        }
    }

    /// What a run occupies while it runs, and the session that it resumes.
    pub(super) async fn occupied(&self, session: Option<&SessionId>) -> Occupied {
        match self {
            Self::Cli(cli) => cli.occupied(session).await,
        }
    }

    /// Carries out an attempt. The slot is held until everything is released.
    pub(super) async fn run(&self, attempt: Attempt<'_>, slot: Slot) -> Attempted {
        match self {
            Self::Cli(cli) => cli.run(attempt, slot).await,
        }
    }
}

impl<'a> Attempt<'a> {
    /// What delivers the answer.
    pub(super) fn delivery(&self) -> Delivery<'a> {
        Delivery::new(self.scope.writer, &self.request.ask, self.check.cloned(), self.model.limits.answer_buffer)
    }

    /// Sends the rest of an answer. Returns the outcome for the client.
    pub(super) async fn send_rest(&self, rest: Vec<Reply>, outcome: Outcome) -> Outcome {
        for reply in rest {
            if let (Err(reason), Outcome::Finished { .. }) = (self.send(Step::Reply(reply)).await, &outcome) {
                return interruption(reason, self.model).into();
            }
        }
        outcome
    }

    /// Waits for a future while the run is wanted and has time.
    pub(super) async fn run_in_time<T>(&self, future: impl Future<Output = T>) -> Result<T, KillReason> {
        self.scope.run_until(self.deadline, future).await
    }

    /// Sends a step. A client that does not read delays no end of the run.
    pub(super) async fn send(&self, step: Step) -> Result<(), KillReason> {
        self.run_in_time(self.scope.writer.send(step)).await
    }
}

impl Attempted {
    /// An attempt that ended before anything was started.
    pub(super) fn failed(failure: Failure, may_retry: bool) -> Self {
        Self { ended: Ended::without_usage(failure), may_retry, cleanup: None }
    }
}

impl Cleanup {
    /// Whether a process was at work.
    pub(super) fn has_worked(&self) -> bool {
        match self {
            Self::Cli(cleanup) => cleanup.has_worked(),
            Self::Discarding(_) => true,
        }
    }

    /// Releases everything. Of a run that finished, what the agent added is committed before.
    pub(super) async fn release(self, has_finished: bool) {
        match self {
            Self::Cli(cleanup) => cleanup.release(has_finished).await,
            Self::Discarding(discarding) => {
                discarding.await;
            }
        }
    }

    /// Ends the process and discards what it did in a worktree of its own. Changes in the repository itself remain.
    pub(super) fn discard(self) -> Discarding {
        match self {
            Self::Cli(cleanup) => Box::pin(cleanup.discard()),
            Self::Discarding(discarding) => discarding,
        }
    }
}

impl fmt::Debug for Cleanup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cli(cleanup) => cleanup.fmt(f),
            Self::Discarding(_) => f.write_str("Discarding"),
        }
    }
}
