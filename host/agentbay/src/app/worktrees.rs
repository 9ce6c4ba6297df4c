//! The worktrees in the folders of all models.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use agentbay_config::{Config, Models};
use agentbay_domain::{Environment, Target};
use agentbay_workspace::{Git, ListedWorktree, Released, list_worktrees, release_stale};

/// Every worktree of a run that still exists.
pub fn list(config: &Config) -> Vec<ListedWorktree> {
    folders(config).iter().flat_map(|dir| list_worktrees(dir)).collect()
}

/// Saves the work in all worktrees that no run uses, and removes them. Returns each with the result.
pub async fn prune(config: &Config, environment: &Environment) -> Vec<(ListedWorktree, Released)> {
    release(&Git::new(environment.clone()), config.limits.run.git_timeout, folders(config), true).await
}

/// The same for these folders. Worktrees that are kept by a setting stay unless `all`. A git command may take as long as `limit`.
pub(super) async fn release(
    git: &Git,
    limit: Duration,
    folders: BTreeSet<PathBuf>,
    all: bool,
) -> Vec<(ListedWorktree, Released)> {
    let mut released = Vec::new();
    for dir in folders {
        released.extend(release_stale(git, limit, &dir, all).await);
    }
    released
}

/// The folders of the models' worktrees. A model that was found on PATH has none.
pub(super) fn folders(config: &Config) -> BTreeSet<PathBuf> {
    let Models::Configured(models) = &config.models else { return BTreeSet::new() };
    let worktrees = models.values().filter_map(|model| {
        let Target::Cli(cli) = &model.target;
        cli.worktree.as_ref()
    });
    worktrees.map(|worktree| worktree.dir.clone()).collect()
}
