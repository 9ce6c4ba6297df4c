//! Where runs begin, and what their callers hold of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentbay_domain::{Environment, RunId};
use agentbay_workspace::{self, Git, WorkspaceError};
use jiff::Timestamp;
use tracing::Instrument;

use super::context::{Means, Request};
use super::error::StartError;
use super::failures::{Before, Failures, Memory};
use super::feed::{Listener, feed};
use super::live::{Claim, Entered, Identity, LiveRun, LiveRuns, Phase};
use super::logins::Logins;
use super::observer::Observer;
use super::pipeline::{self, Job};
use super::queue::Queue;
use super::route::{Route, route};
use super::snapshot::Snapshots;
use super::step::{Ended, Step};
use super::tasks::Tasks;

/// Starts runs.
#[derive(Debug, Clone)]
pub struct Runner {
    snapshots: Snapshots,
    means: Means,
    live: LiveRuns,
    failures: Failures,
    tasks: Tasks,
}

/// A run that goes on as long as somebody holds it. Dropping it ends the CLI and all it started, unless its client may
/// come back for it; then it goes on for a short while.
#[derive(Debug)]
pub struct Run {
    id: RunId,
    listener: Listener,
    unread: u64,
}

impl Runner {
    /// A runner for the models of whatever snapshot is the newest when a request comes.
    pub fn new(
        snapshots: Snapshots,
        host: Environment,
        runs_dir: PathBuf,
        observer: Arc<dyn Observer>,
        tasks: Tasks,
    ) -> Self {
        let git = Git::new(host.clone());
        let means = Means { host, git, runs_dir, queue: Queue::new(), observer };
        Self { snapshots, means, live: LiveRuns::new(), failures: Failures::default(), tasks }
    }

    /// Starts a run, or joins the one that goes on for the same claim. Without an identity nothing is remembered of it.
    ///
    /// # Errors
    /// See [`StartError`]. Everything else that can go wrong is told by the run.
    pub fn start(&self, request: Request, identity: Option<Identity>) -> Result<Run, StartError> {
        let snapshot = self.snapshots.newest();
        let route = route(&snapshot, &request.model)?;
        let generation = snapshot.generation;
        drop(snapshot);
        let before = identity.as_ref().map_or(Before::Nothing, |identity| {
            let logins = || Logins::of(&route, request.session.is_some(), &self.means.host);
            self.failures.before(identity, generation, logins)
        });
        if let Before::Failed { failure, ago } = before {
            tracing::info!(category = failure.category.name(), "a request is given the failure that it met before");
            return Err(StartError::Remembered { failure, ago });
        }
        let repeated = before == Before::Invited || identity.as_ref().is_some_and(|identity| identity.repeated);
        let memory = identity.as_ref().map(|identity| Memory::new(&self.failures, identity, generation));
        // Nor is a run joined that failed before the change.
        let joins = |claim: Claim| Claim { joins: claim.joins && before != Before::Outdated, ..claim };
        let claim = identity.and_then(|identity| identity.claim).map(joins);
        let unread = route.model.limits.unread;
        let linger = claim.as_ref().map(|_| route.limits.http.linger);
        let (writer, feed, listener) = feed(unread, linger);
        match self.live.enter(begun(&route), feed, claim) {
            Entered::Closed => Err(StartError::Stopping),
            Entered::Taken => Err(StartError::OtherRequest),
            Entered::Joined(id, listener) => {
                tracing::info!(%id, "a request joins a run that goes on");
                Ok(Run { id, listener, unread })
            }
            Entered::New(entry) => {
                let (means, stopping) = (self.means.clone(), self.tasks.stopping());
                let id = entry.id();
                let job = Job { id, route, request, repeated, memory, means, entry, writer, stopping };
                self.tasks.spawn(pipeline::carry_out(job).in_current_span());
                Ok(Run { id, listener, unread })
            }
        }
    }

    /// The git that the runs use, in which one waits for the other where both cannot be at a repository at once.
    pub fn git(&self) -> &Git {
        &self.means.git
    }

    /// The runs that go on, the oldest first.
    pub fn live(&self) -> Vec<LiveRun> {
        self.live.all()
    }

    /// One of them.
    pub fn one(&self, id: RunId) -> Option<LiveRun> {
        self.live.one(id)
    }

    /// Ends a run that goes on, as it was until then. Its client is told that it was cancelled.
    pub fn cancel(&self, id: RunId) -> Option<LiveRun> {
        self.live.cancel(id)
    }

    /// What a run that is over changed in a worktree of its own, as a patch; nothing if nothing is known of it.
    ///
    /// # Errors
    /// The patch is longer than an answer may be.
    pub async fn patch(&self, id: RunId) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let snapshot = self.snapshots.newest();
        let most = usize::try_from(snapshot.limits.run.unread).unwrap_or(usize::MAX);
        let models = snapshot.models.values().filter(|model| model.worktree.is_some());
        let repos: BTreeSet<&Path> = models.map(|model| model.repo.as_path()).collect();
        let git = self.means.git.with_limit(snapshot.limits.run.git);
        for repo in repos.into_iter().filter(|repo| repo.is_dir()) {
            match agentbay_workspace::patch(&git, repo, id, most).await {
                Ok(None) => {}
                Err(error) if !matches!(error, WorkspaceError::TooMuch { .. }) => {
                    tracing::warn!(%error, "cannot look for the work of a run");
                }
                found => return found,
            }
        }
        Ok(None)
    }

    /// Lets no run begin any more.
    pub fn close(&self) {
        self.live.close();
    }

    /// Whether no run may begin any more.
    pub fn is_closed(&self) -> bool {
        self.live.are_closed()
    }

    /// Waits until every run that goes on has been answered.
    pub async fn answered(&self) {
        self.live.answered().await;
    }
}

/// A run that has just come.
fn begun(route: &Route) -> LiveRun {
    let model = &route.model;
    LiveRun {
        id: RunId::new(),
        model: model.name.clone(),
        serving: model.name.clone(),
        driver: model.driver.clone(),
        phase: Phase::Queued,
        since: Timestamp::now(),
        failed: Vec::new(),
    }
}

impl Run {
    /// The run's name.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Bytes of its answer that may wait in memory.
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// What comes next. [`Step::Ended`] is the last, also of a run that is lost.
    pub async fn next(&mut self) -> Step {
        self.listener.next().await.unwrap_or_else(|| Step::Ended(Ended::lost()))
    }

    /// A run of which this comes, and which is lost then: for tests of surfaces.
    pub async fn lost_after(steps: impl IntoIterator<Item = Step>) -> Self {
        let (writer, _feed, listener) = feed(u64::MAX, None);
        for step in steps {
            writer.tell(step).await;
        }
        Self { id: RunId::new(), listener, unread: u64::MAX }
    }
}
