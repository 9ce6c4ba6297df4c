//! Starts runs, and the handle that callers have of one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentbay_domain::{Environment, Model, Outcome, RunId, StopReason, Target, Usage};
use agentbay_workspace::{self, Git, WorkspaceError};
use jiff::Timestamp;
use tracing::Instrument;

use super::context::{Request, RunContext};
use super::delivery::FormatCheck;
use super::error::StartError;
use super::failures::{Before, Failures, Memory};
use super::feed::{Listener, feed};
use super::logins::Logins;
use super::observer::Observer;
use super::pipeline::{self, Job};
use super::queue::Queue;
use super::registry::{Entered, Identity, LiveRun, Phase, Registry, RequestKey};
use super::route::{Route, route};
use super::snapshot::Snapshots;
use super::step::{Ended, Step};
use super::tasks::Tasks;

/// Starts runs.
#[derive(Debug, Clone)]
pub struct Runner {
    snapshots: Snapshots,
    context: RunContext,
    registry: Registry,
    failures: Failures,
    tasks: Tasks,
}

/// A run, which continues while this is held. Dropping it ends the CLI and all that it started, at once or, if the client
/// can return for it, after a short time.
#[derive(Debug)]
pub struct Run {
    id: RunId,
    listener: Listener,
    answer_buffer: u64,
}

impl Runner {
    /// A runner for the models of the snapshot that is the newest when a request arrives.
    pub fn new(
        snapshots: Snapshots,
        host: Environment,
        runs_dir: PathBuf,
        observer: Arc<dyn Observer>,
        tasks: Tasks,
    ) -> Self {
        let git = Git::new(host.clone());
        let context = RunContext { host, git, runs_dir, queue: Queue::new(), observer };
        Self { snapshots, context, registry: Registry::new(), failures: Failures::default(), tasks }
    }

    /// Starts a run, or joins the run with the same request key. Without an identity nothing about it is remembered.
    ///
    /// # Errors
    /// See [`StartError`]. All other failures are steps of the run.
    pub fn start(&self, request: Request, identity: Option<Identity>) -> Result<Run, StartError> {
        let check = FormatCheck::of(&request.ask.format)?.map(Arc::new);
        let snapshot = self.snapshots.newest();
        let route = route(&snapshot, &request.model)?;
        let generation = snapshot.generation;
        drop(snapshot);
        let before = identity.as_ref().map_or(Before::Nothing, |identity| {
            let logins = || Logins::of(&route, request.session.is_some(), &self.context.host);
            self.failures.before(identity, generation, logins)
        });
        if let Before::Failed { failure, ago } = before {
            tracing::info!(
                category = failure.category.name(),
                "a repeated request is answered with its remembered failure"
            );
            return Err(StartError::Remembered { failure, ago });
        }
        let repeated = before == Before::Invited || identity.as_ref().is_some_and(|identity| identity.repeated);
        let memory = identity.as_ref().map(|identity| Memory::new(&self.failures, identity, generation));
        // A run that failed before the change is not joined either.
        let may_join = |key: RequestKey| RequestKey { may_join: key.may_join && before != Before::Outdated, ..key };
        let key = identity.and_then(|identity| identity.key).map(may_join);
        let answer_buffer = route.model.limits.answer_buffer;
        let linger = key.as_ref().map(|_| route.limits.http.disconnect_grace);
        let (writer, feed, listener) = feed(answer_buffer, linger);
        match self.registry.enter(new_run(&route), feed, key) {
            Entered::Closed => Err(StartError::Stopping),
            Entered::Taken => Err(StartError::OtherRequest),
            Entered::Joined(id, listener) => {
                tracing::info!(%id, "a request joins a run");
                Ok(Run { id, listener, answer_buffer })
            }
            Entered::New(handle) => {
                let (context, stopping) = (self.context.clone(), self.tasks.stopping());
                let id = handle.id();
                let job = Job { id, route, request, check, repeated, memory, context, handle, writer, stopping };
                self.tasks.spawn(pipeline::run(job).in_current_span());
                Ok(Run { id, listener, answer_buffer })
            }
        }
    }

    /// The git that the runs use. Calls that exclude each other in one repository wait for each other.
    pub fn git(&self) -> &Git {
        &self.context.git
    }

    /// The current runs, the oldest first.
    pub fn live(&self) -> Vec<LiveRun> {
        self.registry.all()
    }

    /// One of them.
    pub fn one(&self, id: RunId) -> Option<LiveRun> {
        self.registry.one(id)
    }

    /// Ends a run and returns its last state. Its client receives that it was cancelled.
    pub fn cancel(&self, id: RunId) -> Option<LiveRun> {
        self.registry.cancel(id)
    }

    /// The changes of an ended run in its worktree, as a patch; `None` if the run is unknown.
    ///
    /// # Errors
    /// The patch is longer than an answer may be.
    pub async fn patch(&self, id: RunId) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let snapshot = self.snapshots.newest();
        let most = usize::try_from(snapshot.limits.run.answer_buffer).unwrap_or(usize::MAX);
        let repos: BTreeSet<&Path> = snapshot.models.values().filter_map(|model| worktree_repo(model)).collect();
        let git = self.context.git.with_limit(snapshot.limits.run.git_timeout);
        for repo in repos.into_iter().filter(|repo| repo.is_dir()) {
            match agentbay_workspace::patch(&git, repo, id, most).await {
                Ok(None) => {}
                Err(error) if !matches!(error, WorkspaceError::OutputTooLarge { .. }) => {
                    tracing::warn!(%error, "cannot search for the saved work of a run");
                }
                found => return found,
            }
        }
        Ok(None)
    }

    /// Refuses new runs from now on.
    pub fn close(&self) {
        self.registry.close();
    }

    /// Returns whether new runs are refused.
    pub fn is_closed(&self) -> bool {
        self.registry.is_closed()
    }

    /// Waits until every current run has been answered.
    pub async fn answered(&self) {
        self.registry.answered().await;
    }
}

/// The repository of a model whose runs work in worktrees.
fn worktree_repo(model: &Model) -> Option<&Path> {
    let Target::Cli(target) = &model.target;
    target.worktree.as_ref().map(|_| target.repo.as_path())
}

/// A run that has just started.
fn new_run(route: &Route) -> LiveRun {
    let model = &route.model;
    LiveRun {
        id: RunId::new(),
        model: model.name.clone(),
        current_model: model.name.clone(),
        driver: route.backend.driver().clone(),
        phase: Phase::Queued,
        created_at: Timestamp::now(),
        failed_attempts: Vec::new(),
    }
}

impl Run {
    /// The run's name.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// The bytes of its answer that may wait in memory.
    pub fn answer_buffer(&self) -> u64 {
        self.answer_buffer
    }

    /// The next step. [`Step::Ended`] is the last, also of a run that is lost.
    pub async fn next(&mut self) -> Step {
        self.listener.next().await.unwrap_or_else(|| Step::Ended(Ended::lost()))
    }

    /// A run that has ended with this answer, without an agent. The estimate of its tokens is that of a prompt of `asked` bytes.
    pub fn answered(asked: usize, answer: String) -> Self {
        let (writer, _feed, listener) = feed(u64::MAX, None);
        let usage = Usage::estimate(asked, answer.chars().count());
        let outcome = Outcome::Finished { stop: StopReason::EndTurn, answer: Some(answer) };
        writer.end(Step::Ended(Ended { outcome, usage, usage_estimated: true }));
        Self { id: RunId::new(), listener, answer_buffer: u64::MAX }
    }

    /// A run of these steps, which is lost after them. For tests of surfaces.
    pub async fn lost_after(steps: impl IntoIterator<Item = Step>) -> Self {
        let (writer, _feed, listener) = feed(u64::MAX, None);
        for step in steps {
            writer.send(step).await;
        }
        Self { id: RunId::new(), listener, answer_buffer: u64::MAX }
    }
}
