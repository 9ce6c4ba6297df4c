//! The worktrees that runs have left in the folders of all models.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::load::Loaded;
use crate::workspace::{Cleared, Git, Listed, clear_left_over, worktrees_in};

/// Every worktree that was made for a run and is still there.
pub fn list(loaded: &Loaded) -> Vec<Listed> {
    folders(loaded).iter().flat_map(|dir| worktrees_in(dir)).collect()
}

/// Saves what is in those whose host is gone, and removes them; those that are to be kept only if `all` are to go. Gives
/// each with what became of it.
pub async fn prune(loaded: &Loaded, all: bool) -> Vec<(PathBuf, Cleared)> {
    let git = Git::new(loaded.host.clone());
    let mut cleared = Vec::new();
    for dir in folders(loaded) {
        cleared.extend(clear_left_over(&git, &dir, all).await);
    }
    cleared
}

fn folders(loaded: &Loaded) -> BTreeSet<PathBuf> {
    let models = loaded.snapshot.models.values();
    models.filter_map(|model| model.worktree.as_ref()).map(|worktree| worktree.dir.clone()).collect()
}
