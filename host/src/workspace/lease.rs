//! The loan of a working directory to a run: the repository itself, or a worktree that is made for the run and removed
//! after it, once all that the run left in it has been saved.

use std::path::{Path, PathBuf};

use super::error::WorkspaceError;
use super::git::Git;
use super::{private_dir, saved};
use crate::domain::{Model, RunId};

/// Where a run is going to work. Nothing is touched yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    repo: PathBuf,
    run: RunId,
    worktrees: Option<PathBuf>,
}

/// A working directory, lent to a run until it is given back.
#[derive(Debug)]
#[must_use = "a lease that is not given back leaves its worktree behind"]
pub struct Lease {
    site: Site,
    /// The commit a worktree was made from.
    base: Option<String>,
}

impl Site {
    /// Where a run of the model is going to work.
    pub fn new(model: &Model, run: RunId) -> Self {
        let worktrees = model.worktree.as_ref().map(|worktree| worktree.dir.clone());
        Self { repo: model.repo.clone(), run, worktrees }
    }

    /// The directory the CLI is going to run in.
    pub fn workdir(&self) -> PathBuf {
        match &self.worktrees {
            Some(dir) => dir.join(self.run.to_string()),
            None => self.repo.clone(),
        }
    }

    /// Makes the directory ready.
    ///
    /// # Errors
    /// The repository is missing, the folder of worktrees is not private, or git refuses.
    pub async fn lease(self, git: &Git) -> Result<Lease, WorkspaceError> {
        if !self.repo.is_dir() {
            return Err(WorkspaceError::RepositoryMissing(self.repo));
        }
        let Some(dir) = &self.worktrees else { return Ok(Lease { site: self, base: None }) };
        private_dir::make(dir)?;
        git.add_worktree(&self.repo, &self.workdir()).await?;
        let base = git.head(&self.workdir()).await?;
        Ok(Lease { site: self, base: Some(base) })
    }
}

impl Lease {
    /// The directory.
    pub fn workdir(&self) -> PathBuf {
        self.site.workdir()
    }

    /// Gives the directory back. All that the run left in a worktree and that is not ignored is saved under
    /// `refs/agentbay/<run>`, and then the worktree is removed. If it cannot be saved, the worktree stays.
    pub async fn give_back(self, git: &Git) {
        let Some(base) = &self.base else { return };
        let worktree = self.workdir();
        match self.remove(git, base, &worktree).await {
            Ok(()) => tracing::debug!(worktree = %worktree.display(), "worktree removed"),
            Err(reason) => {
                tracing::warn!(worktree = %worktree.display(), %reason, "worktree kept, nothing in it is lost");
            }
        }
    }

    /// Whether it is a worktree made for the run.
    pub fn is_worktree(&self) -> bool {
        self.base.is_some()
    }

    /// Gives a worktree back with nothing in it to be kept. Says whether that worked.
    pub async fn discard(self, git: &Git) -> bool {
        git.remove_worktree(&self.site.repo, &self.workdir()).await.is_ok()
    }

    async fn remove(&self, git: &Git, base: &str, worktree: &Path) -> Result<(), WorkspaceError> {
        let run = self.site.run.to_string();
        if let Some(commit) = saved::commit(git, worktree, base, &run).await? {
            let name = format!("refs/agentbay/{run}");
            git.keep(&self.site.repo, &name, &commit).await?;
            tracing::info!(%commit, name, "the work of the run is saved");
        }
        git.remove_worktree(&self.site.repo, worktree).await
    }
}
