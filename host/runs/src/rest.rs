//! What a try leaves behind, and how it is given back: the process first, then what it worked in.

use std::fmt;
use std::pin::Pin;

use agentbay_os::process::Child;
use agentbay_workspace::{Additions, Author, Git, Lease, RunDir, TreeState};

use super::queue::Place;

/// What a try has to give back. It grows while the try starts.
#[derive(Debug)]
pub(super) struct Rest {
    /// The git of the run, which is wanted to the end.
    pub(super) git: Git,
    /// The process, if it came to that.
    pub(super) process: Option<Process>,
    /// What it works in, finished or not.
    pub(super) lease: Option<Lease>,
    /// How the repository was before, if the try worked in it and that could be found out.
    pub(super) before: Option<TreeState>,
    /// Set if what the agent adds for later tasks is to be committed.
    pub(super) additions: Option<Additions>,
    /// Held until everything is given back.
    pub(super) place: Place,
}

/// A process that was started.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) child: Child,
    /// It is not to go on.
    pub(super) unwanted: bool,
    pub(super) used_a_tool: bool,
    /// What the log says of it beside how it ended.
    pub(super) last_error: String,
    /// Held until it has ended: it may read from it.
    pub(super) _run_dir: RunDir,
}

/// A rest that is thrown away, whoever waits for it.
pub(super) type Throwing = Pin<Box<dyn Future<Output = bool> + Send>>;

/// What is left of a run that has been answered.
pub(super) enum Left {
    /// It is to be saved.
    Rest(Box<Rest>),
    /// It is being thrown away.
    Throwing(Throwing),
}

impl fmt::Debug for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rest(rest) => rest.fmt(f),
            Self::Throwing(_) => f.write_str("Throwing"),
        }
    }
}

impl From<Rest> for Left {
    fn from(rest: Rest) -> Self {
        Self::Rest(Box::new(rest))
    }
}

impl Left {
    /// Whether a process was at work.
    pub(super) fn worked(&self) -> bool {
        match self {
            Self::Rest(rest) => rest.process.is_some(),
            Self::Throwing(_) => true,
        }
    }

    /// Gives everything back. What the agent of a finished turn added is committed before.
    pub(super) async fn clear_away(self, author: Option<Author<'_>>) {
        match self {
            Self::Rest(rest) => rest.clear_away(author).await,
            Self::Throwing(throwing) => {
                let _nobody_asks = throwing.await;
            }
        }
    }

    /// Ends the process, and throws away what it did in a worktree of its own. Says whether nothing is left of the try:
    /// in the repository itself, nothing can be taken back.
    pub(super) fn throw_away(self) -> Throwing {
        match self {
            Self::Rest(rest) => Box::pin(rest.throw_away()),
            Self::Throwing(throwing) => throwing,
        }
    }
}

impl Rest {
    pub(super) fn new(place: Place, git: Git) -> Self {
        Self { git, process: None, lease: None, before: None, additions: None, place }
    }

    /// The process ends first, and only then what it worked in is given back.
    async fn clear_away(self, author: Option<Author<'_>>) {
        let git = &self.git.afresh();
        let has_run = self.process.is_some();
        if let Some(process) = self.process {
            process.end().await;
        }
        if let (Some(additions), Some(author)) = (self.additions, author) {
            match additions.commit(git, author).await {
                Ok(None) => {}
                Ok(Some(commit)) => tracing::info!(commit, "what the agent added is committed"),
                Err(reason) => tracing::warn!(%reason, "what the agent added is not committed, and still there"),
            }
        }
        match self.lease {
            Some(lease) if has_run => lease.give_back(git).await,
            // Nobody has worked in it.
            Some(lease) => drop(lease.discard(git).await),
            None => {}
        }
    }

    async fn throw_away(self) -> bool {
        let git = &self.git.afresh();
        let used_a_tool = self.process.as_ref().map(|process| process.used_a_tool);
        if let Some(process) = self.process {
            process.end().await;
        }
        let Some(lease) = self.lease else { return true };
        if lease.is_worktree() {
            return lease.discard(git).await;
        }
        let unchanged = match (&self.before, used_a_tool) {
            (_, None) => true,
            (Some(before), Some(false)) => TreeState::of(git, lease.workdir()).await.is_ok_and(|now| now == *before),
            _ => false,
        };
        lease.give_back(git).await;
        unchanged
    }
}

impl Process {
    async fn end(self) {
        let exit = if self.unwanted { self.child.stop().await } else { self.child.settle().await };
        tracing::info!(%exit, last_error = self.last_error, "the CLI has ended");
    }
}
