//! The work that a run left in its worktree, saved as a commit without touching the index or a branch of anybody.

use std::path::Path;

use super::error::WorkspaceError;
use super::git::Git;
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

/// The commit that holds everything in a worktree that is not ignored, or nothing if that is what `base` holds. If
/// there are changes which are not committed, it is a new commit on top of the worktree's HEAD.
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
    let tree = tree(git, worktree).await?;
    refuse_nested(git, worktree, base, &tree).await?;
    let head_tree = git.line("rev-parse", worktree, &["rev-parse", "--verify", "HEAD^{tree}"]).await?;
    if tree == head_tree {
        return Ok(Some(head).filter(|head| head != base));
    }
    let message = format!("What run {run} left");
    let args = ["commit-tree", &tree, "-p", &head, "-m", &message];
    git.line("commit-tree", worktree, &args).await.map(Some)
}

/// Writes all that is in a worktree as a tree. An index of its own begins as the worktree's, so that what was added
/// although it is ignored stays in.
async fn tree(git: &Git, worktree: &Path) -> Result<String, WorkspaceError> {
    let folder = git.line("rev-parse", worktree, &["rev-parse", "--absolute-git-dir"]).await?;
    let index = Path::new(&folder).join("agentbay-index");
    let refuse = |error: std::io::Error| WorkspaceError::Folder { path: index.clone(), reason: error.to_string() };
    tokio::fs::copy(Path::new(&folder).join("index"), &index).await.map_err(refuse)?;
    let index = index.display().to_string();
    let env = [("GIT_INDEX_FILE", index.as_str())];
    git.run_with("add", worktree, &["add", "--all", "."], &env).await?;
    let tree = git.run_with("write-tree", worktree, &["write-tree"], &env).await?;
    Ok(tree.text().trim().to_owned())
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
