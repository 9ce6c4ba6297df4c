//! Worktrees that are still there although their run is over: of hosts that were killed, and those that could not be
//! cleared. A folder without a note is somebody else's, and is left alone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay_domain::{Keep, RunId};

use super::git::Git;
use super::lease::{Cleared, Worktree};
use super::lease_file::{self, Found};

/// A worktree that was made for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The run.
    pub run: RunId,
    /// Its model.
    pub model: String,
    /// Its repository.
    pub repo: PathBuf,
    /// Where it is.
    pub path: PathBuf,
    /// What it is there for.
    pub state: State,
}

/// What a worktree is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A run works in it.
    InUse,
    /// Its run is over, and it is to be kept.
    Kept,
    /// Its run is over.
    LeftOver,
}

impl State {
    fn of(found: &Found) -> Self {
        match (&found.file, found.note.kept) {
            (None, _) => Self::InUse,
            (Some(_), true) => Self::Kept,
            (Some(_), false) => Self::LeftOver,
        }
    }
}

/// The worktrees in a folder.
pub fn worktrees_in(dir: &Path) -> Vec<Listed> {
    let listed = |found: Found| Listed {
        state: State::of(&found),
        run: found.run,
        path: dir.join(found.run.to_string()),
        model: found.note.model,
        repo: found.note.repo,
    };
    lease_file::all_in(dir).into_iter().map(listed).collect()
}

/// Saves what is in worktrees whose host is gone, and removes them; those that are to be kept only if `all` are to go.
/// Gives each with what became of it. One git command may take as long as `limit`.
pub async fn clear_left_over(git: &Git, limit: Duration, dir: &Path, all: bool) -> Vec<(PathBuf, Cleared)> {
    let mut cleared = Vec::new();
    for Found { run, note, file } in lease_file::all_in(dir) {
        let Some(file) = file.filter(|_| all || !note.kept) else { continue };
        let path = dir.join(run.to_string());
        let keep = if all { Keep::Never } else { note.keep };
        let git = git.with_limit(limit);
        cleared.push((path.clone(), Worktree { path, run, note, file }.clear(&git, keep).await));
    }
    cleared
}
