//! The last step of an attempt: the process ends first, then what it worked in is released.

use agentbay_domain::RunId;
use agentbay_workspace::{Additions, Author, Git, Lease};
use jiff::Timestamp;

use super::before::Before;
use super::process::Process;
use crate::backend::Attempt;
use crate::queue::Slot;

/// What an attempt has acquired. It grows while the attempt starts.
#[derive(Debug)]
pub(crate) struct Cleanup {
    run: RunId,
    model: String,
    /// The git of the run, which is wanted to the end.
    pub(super) git: Git,
    /// The process, if one was started.
    pub(super) process: Option<Process>,
    /// What it works in, complete or not.
    pub(super) lease: Option<Lease>,
    /// What is known of the repository before, if the attempt worked in it.
    pub(super) before: Before,
    /// Set if what the agent adds for later tasks is to be committed.
    pub(super) additions: Option<Additions>,
    /// Held until everything is released.
    pub(super) slot: Slot,
}

impl Cleanup {
    pub(super) fn new(attempt: &Attempt<'_>, slot: Slot, git: Git) -> Self {
        Self {
            run: attempt.run,
            model: attempt.model.name.clone(),
            git,
            process: None,
            lease: None,
            before: Before::Unknown,
            additions: None,
            slot,
        }
    }

    /// Whether a process was at work.
    pub(crate) fn has_worked(&self) -> bool {
        self.process.is_some()
    }

    /// Releases everything. Of a run that finished, what the agent added is committed before.
    pub(crate) async fn release(self, has_finished: bool) {
        let (git, at) = (&self.git.with_fresh_settings(), Timestamp::now());
        // No attempt follows.
        drop(self.before);
        let has_run = self.process.is_some();
        if let Some(process) = self.process {
            process.end().await;
        }
        if let Some(additions) = self.additions.filter(|_| has_finished) {
            let author = Author { run: self.run, model: &self.model, at };
            match additions.commit(git, author).await {
                Ok(None) => {}
                Ok(Some(commit)) => tracing::info!(commit, "what the agent added is committed"),
                Err(reason) => tracing::warn!(%reason, "what the agent added is not committed, and still there"),
            }
        }
        match self.lease {
            Some(lease) if has_run => lease.release(git).await,
            // No agent has worked in it.
            Some(lease) => drop(lease.discard(git).await),
            None => {}
        }
    }

    /// Ends the process and discards its worktree. Returns whether nothing of the attempt remains: changes in the
    /// repository itself do.
    pub(crate) async fn discard(self) -> bool {
        let git = &self.git.with_fresh_settings();
        let used_a_tool = self.process.as_ref().map(|process| process.after.used_a_tool);
        if let Some(process) = self.process {
            process.end().await;
        }
        let Some(lease) = self.lease else { return true };
        if lease.is_worktree() {
            return lease.discard(git).await;
        }
        let is_unchanged = match used_a_tool {
            None => true,
            Some(true) => false,
            Some(false) => self.before.proves_unchanged(git, lease.workdir()).await,
        };
        lease.release(git).await;
        is_unchanged
    }
}
