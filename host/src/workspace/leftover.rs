//! Worktrees that are still there although their run is over: of hosts that were killed, and those that could not be
//! cleared. A folder without a note is somebody else's, and is left alone.

use std::path::{Path, PathBuf};

use super::git::Git;
use super::lease::Worktree;
use super::lease_file::{self, Found};
use crate::domain::RunId;

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
    /// Whether the host lives that lent it.
    pub is_lent: bool,
}

/// The worktrees in a folder.
pub fn worktrees_in(dir: &Path) -> Vec<Listed> {
    let listed = |found: Found| Listed {
        run: found.run,
        path: dir.join(found.run.to_string()),
        model: found.note.model,
        repo: found.note.repo,
        is_lent: found.file.is_none(),
    };
    lease_file::all_in(dir).into_iter().map(listed).collect()
}

/// Saves what is in worktrees whose host is gone, and removes them. Gives each with whether it is gone.
pub async fn clear_left_over(git: &Git, dir: &Path) -> Vec<(PathBuf, bool)> {
    let mut cleared = Vec::new();
    for Found { run, note, file } in lease_file::all_in(dir) {
        let Some(file) = file else { continue };
        let path = dir.join(run.to_string());
        let gone = Worktree { path: path.clone(), run, note, file }.clear(git).await;
        cleared.push((path, gone));
    }
    cleared
}
