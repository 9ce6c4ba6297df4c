//! Stale worktrees, which exist although their run is over: of hosts that were killed, and those that could not be released.
//! A folder without a lease record belongs to another program and is not touched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay_domain::{Keep, RunId};

use super::git::Git;
use super::lease::{Released, Worktree};
use super::lease_file::{self, FoundLease};

/// A worktree that was created for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedWorktree {
    /// The run.
    pub run: RunId,
    /// Its model.
    pub model: String,
    /// Its repository.
    pub repo: PathBuf,
    /// Its path.
    pub path: PathBuf,
    /// Its state.
    pub state: WorktreeState,
}

/// The state of a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeState {
    /// A run uses it.
    InUse,
    /// Its run is over, and it is kept as configured.
    Kept,
    /// Its run is over.
    Stale,
}

impl WorktreeState {
    fn of(found: &FoundLease) -> Self {
        match (&found.file, found.record.kept) {
            (None, _) => Self::InUse,
            (Some(_), true) => Self::Kept,
            (Some(_), false) => Self::Stale,
        }
    }
}

impl ListedWorktree {
    fn of(dir: &Path, found: &FoundLease) -> Self {
        Self {
            run: found.run,
            model: found.record.model.clone(),
            repo: found.record.repo.clone(),
            path: dir.join(found.run.to_string()),
            state: WorktreeState::of(found),
        }
    }
}

/// The worktrees in a folder.
pub fn list_worktrees(dir: &Path) -> Vec<ListedWorktree> {
    lease_file::find_all(dir).iter().map(|found| ListedWorktree::of(dir, found)).collect()
}

/// Saves and removes worktrees whose host is gone; those that are to be kept only with `all`. Returns each as it was, with its
/// result. `limit` is the time limit of one git command.
pub async fn release_stale(git: &Git, limit: Duration, dir: &Path, all: bool) -> Vec<(ListedWorktree, Released)> {
    let mut released = Vec::new();
    for found in lease_file::find_all(dir) {
        let listed = ListedWorktree::of(dir, &found);
        let FoundLease { run, record, file } = found;
        let Some(file) = file.filter(|_| all || !record.kept) else { continue };
        let keep = if all { Keep::Never } else { record.keep };
        let worktree = Worktree { path: listed.path.clone(), run, record, file };
        released.push((listed, worktree.release(&git.with_limit(limit), keep).await));
    }
    released
}
