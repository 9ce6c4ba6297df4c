//! The work that a run left in its worktree, saved as a commit without touching the index or a branch of anybody.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, iter};

use super::error::WorkspaceError;
use super::git::Git;
use super::own_index::OwnIndex;
use crate::domain::RunId;

/// The mode of an entry that only names a commit of another repository.
const GITLINK: &str = "160000";

/// The name under which what a run left is kept.
pub fn reference(run: RunId) -> String {
    format!("refs/agentbay/{run}")
}

/// The name under which the commit is kept that the run began with.
pub(super) fn base_reference(run: RunId) -> String {
    format!("refs/agentbay-base/{run}")
}

/// What a run changed, as a patch of at most so many bytes; nothing if the repository keeps nothing of the run.
///
/// # Errors
/// git fails, or the patch is longer.
pub async fn patch(git: &Git, repo: &Path, run: RunId, most: usize) -> Result<Option<Vec<u8>>, WorkspaceError> {
    let (base, saved) = (base_reference(run), reference(run));
    if git.commit(repo, &saved).await?.is_none() {
        return Ok(None);
    }
    git.patch(repo, &base, &saved, most).await.map(Some)
}

/// The commit that holds everything in a worktree that is not ignored, or nothing if that is what `base` holds. If there
/// is more than the worktree's HEAD, it is a new commit on top of that. Its further parents are what could be reached
/// from the worktree alone: commits that the agent left behind, and what it had staged and then changed.
///
/// # Errors
/// git refuses, or the worktree holds another repository, whose content such a commit would not hold.
pub(super) async fn commit(
    git: &Git,
    worktree: &Path,
    base: &str,
    run: RunId,
) -> Result<Option<String>, WorkspaceError> {
    let head = git.head(worktree).await?;
    let head_tree = git.line("rev-parse", worktree, &["rev-parse", "--verify", "HEAD^{tree}"]).await?;
    let folder = git.folder(worktree).await?;
    let index = OwnIndex::copied(git, worktree, &folder).await?;
    // With conflicts in it, it holds nothing that is not in the files or in commits.
    let staged = index.write().await.unwrap_or_else(|_| head_tree.clone());
    index.add_all().await?;
    let tree = index.write().await?;
    refuse_nested(git, worktree, base, &tree).await?;

    let mut parents = left_behind(git, worktree, base, &head, &folder).await?;
    if is_hidden(git, worktree, [&head_tree, &staged, &tree]).await? {
        parents.push(commit_tree(git, worktree, &staged, &[&head], &format!("What run {run} had staged")).await?);
    }
    if tree == head_tree && parents.is_empty() {
        return Ok(Some(head).filter(|head| head != base));
    }
    let parents: Vec<&str> = iter::once(&head).chain(&parents).map(String::as_str).collect();
    commit_tree(git, worktree, &tree, &parents, &format!("What run {run} left")).await.map(Some)
}

async fn commit_tree(
    git: &Git,
    worktree: &Path,
    tree: &str,
    parents: &[&str],
    message: &str,
) -> Result<String, WorkspaceError> {
    let mut args = vec!["commit-tree", tree, "-m", message];
    args.extend(parents.iter().flat_map(|parent| ["-p", parent]));
    git.line("commit-tree", worktree, &args).await
}

/// Commits that only the worktree's own records lead to: its HEAD has been there, or it is being merged.
async fn left_behind(
    git: &Git,
    worktree: &Path,
    base: &str,
    head: &str,
    folder: &Path,
) -> Result<Vec<String>, WorkspaceError> {
    let been = git.whole("reflog", worktree, &["reflog", "show", "--format=%H", "HEAD", "--"]).await?;
    let mut been: BTreeSet<&str> = been.lines().filter(|commit| *commit != head && *commit != base).collect();
    let merged = fs::read_to_string(folder.join("MERGE_HEAD")).unwrap_or_default();
    been.extend(merged.lines());
    if been.is_empty() {
        return Ok(Vec::new());
    }
    let commits: Vec<&str> = been.iter().copied().collect();
    let rest = ["--not", "--single-worktree", "--all", head, base];
    let lost = [&["rev-list"], commits.as_slice(), &rest].concat();
    let lost = git.whole("rev-list", worktree, &lost).await?;
    let lost: Vec<&str> = lost.lines().filter(|commit| been.contains(commit)).collect();
    if lost.is_empty() {
        return Ok(Vec::new());
    }
    // Those that lead to the others are enough.
    let tips = [&["merge-base", "--independent"], lost.as_slice()].concat();
    Ok(git.whole("merge-base", worktree, &tips).await?.lines().map(str::to_owned).collect())
}

/// Whether something was staged that the files do not show any more.
async fn is_hidden(git: &Git, worktree: &Path, [head, staged, tree]: [&str; 3]) -> Result<bool, WorkspaceError> {
    if staged == head || staged == tree {
        return Ok(false);
    }
    let changed = |filter, from, to| {
        let args = ["diff-tree", "-r", "--name-only", "-z", "--no-renames", filter, from, to];
        async move { git.whole("diff-tree", worktree, &args).await }
    };
    let (by_staging, later) =
        tokio::try_join!(changed("--diff-filter=AMT", head, staged), changed("--diff-filter=MTD", staged, tree))?;
    let later: BTreeSet<&str> = later.split_terminator('\0').collect();
    Ok(by_staging.split_terminator('\0').any(|path| later.contains(path)))
}

/// Other repositories inside: new ones, moved ones, and submodules with changes. Their content is not in the tree.
async fn refuse_nested(git: &Git, worktree: &Path, base: &str, tree: &str) -> Result<(), WorkspaceError> {
    let nested = || WorkspaceError::Nested(worktree.to_owned());
    let changed = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--ignore-submodules=none", base, tree];
    let changed = git.whole("diff-tree", worktree, &changed).await?;
    let links = |entry: &str| entry.starts_with(':') && entry.split(' ').nth(1) == Some(GITLINK);
    if changed.split('\0').any(links) {
        return Err(nested());
    }
    let status = ["status", "--porcelain=v2", "-z", "--ignore-submodules=none", "--untracked-files=no"];
    let status = git.whole("status", worktree, &status).await?;
    let dirty = |entry: &str| entry.split(' ').nth(2).is_some_and(|field| field.len() == 4 && field.starts_with('S'));
    if status.split('\0').any(dirty) {
        return Err(nested());
    }
    Ok(())
}
