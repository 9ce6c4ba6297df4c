//! The worktrees that runs have left in the folders of all models.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use agentbay_config::{Config, Models};
use agentbay_domain::{Environment, Target};
use agentbay_workspace::{Git, ListedWorktree, Released, list_worktrees, release_stale};

/// Every worktree that was made for a run and is still there.
pub fn list(config: &Config) -> Vec<ListedWorktree> {
    folders(config).iter().flat_map(|dir| list_worktrees(dir)).collect()
}

/// Saves what is in those whose host is gone, and removes them; those that are to be kept only if `all` are to go. Gives
/// each with what became of it.
pub async fn prune(config: &Config, host: &Environment, all: bool) -> Vec<(PathBuf, Released)> {
    clear(&Git::new(host.clone()), config.limits.run.git, folders(config), all).await
}

/// The same for these folders. One git command may take as long as `limit`.
pub(super) async fn clear(
    git: &Git,
    limit: Duration,
    folders: BTreeSet<PathBuf>,
    all: bool,
) -> Vec<(PathBuf, Released)> {
    let mut cleared = Vec::new();
    for dir in folders {
        cleared.extend(release_stale(git, limit, &dir, all).await);
    }
    cleared
}

/// The folders in which the models' worktrees are made. A model that was found on PATH has none.
pub(super) fn folders(config: &Config) -> BTreeSet<PathBuf> {
    let Models::Configured(models) = &config.models else { return BTreeSet::new() };
    let worktrees = models.values().filter_map(|model| {
        let Target::Cli(cli) = &model.target;
        cli.worktree.as_ref()
    });
    worktrees.map(|worktree| worktree.dir.clone()).collect()
}
