//! Saves the work of a run in its worktree as a commit, without changing an index or a branch.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io, iter};

use agentbay_domain::RunId;

use super::call::CallOptions;
use super::error::WorkspaceError;
use super::git::Git;
use super::nested::{self, GITLINK};
use super::temp_index::{TempIndex, names};

/// The ref of a run's saved work.
pub fn reference(run: RunId) -> String {
    format!("refs/agentbay/{run}")
}

/// The ref of the commit that the run started from.
pub(super) fn base_reference(run: RunId) -> String {
    format!("refs/agentbay-base/{run}")
}

/// The changes of a run, as a patch of at most `max` bytes; `None` if the repository has no saved work of the run.
///
/// # Errors
/// git fails, or the patch is longer.
pub async fn patch(git: &Git, repo: &Path, run: RunId, max: usize) -> Result<Option<Vec<u8>>, WorkspaceError> {
    let (base, saved) = (base_reference(run), reference(run));
    if git.commit(repo, &saved).await?.is_none() {
        return Ok(None);
    }
    git.patch(repo, &base, &saved, max).await.map(Some)
}

/// The commit with everything in a worktree that is not ignored, or `None` if that equals `base`. If the content differs from
/// the worktree's HEAD, it is a new commit on top of HEAD. Its further parents are commits that only the worktree
/// references: those that the agent abandoned, and one with content that was staged and then overwritten.
///
/// # Errors
/// Git fails, or the worktree contains another repository, whose content such a commit would not include.
pub(super) async fn commit(
    git: &Git,
    worktree: &Path,
    base: &str,
    run: RunId,
) -> Result<Option<String>, WorkspaceError> {
    let is_removed = !worktree.exists();
    if is_removed {
        // Git needs a folder to run in. The removal of the folder does not count as work.
        let refuse = |error: io::Error| WorkspaceError::Folder { path: worktree.into(), reason: error.to_string() };
        fs::create_dir(worktree).map_err(refuse)?;
    }
    let head = git.head(worktree).await?;
    let head_tree = git.line("rev-parse", worktree, &["rev-parse", "--verify", "HEAD^{tree}"]).await?;
    let folder = git.folder(worktree).await?;
    let (mut staged, mut tree) = (head_tree.clone(), head_tree.clone());
    if !is_removed {
        let index = TempIndex::copy_of(git, worktree, &folder, &head).await?;
        // An index with conflicts has no content that is not in the files or in commits.
        staged = index.write().await.unwrap_or(staged);
        index.add_all().await?;
        tree = index.write().await?;
        refuse_nested(git, worktree, base, &tree).await?;
    }

    let mut parents = unreachable_commits(git, worktree, base, &head, &folder).await?;
    if has_overwritten_staging(git, worktree, [&head_tree, &staged, &tree]).await? {
        parents.push(commit_tree(git, worktree, &staged, &[&head], &format!("Staged changes of run {run}")).await?);
    }
    if tree == head_tree && parents.is_empty() {
        return Ok(Some(head).filter(|head| head != base));
    }
    let parents: Vec<&str> = iter::once(&head).chain(&parents).map(String::as_str).collect();
    commit_tree(git, worktree, &tree, &parents, &format!("Work of run {run}")).await.map(Some)
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

/// Commits that only the worktree's records reference: its HEAD was there before, or one is being merged.
async fn unreachable_commits(
    git: &Git,
    worktree: &Path,
    base: &str,
    head: &str,
    folder: &Path,
) -> Result<Vec<String>, WorkspaceError> {
    let visited = git.text("reflog", worktree, &["reflog", "show", "--format=%H", "HEAD", "--"]).await?;
    let mut visited: BTreeSet<&str> = visited.lines().filter(|commit| *commit != head && *commit != base).collect();
    let merged = fs::read_to_string(folder.join("MERGE_HEAD")).unwrap_or_default();
    visited.extend(merged.lines());
    if visited.is_empty() {
        return Ok(Vec::new());
    }
    let commits: Vec<&str> = visited.into_iter().collect();
    let args = ["rev-list", "--parents", "--stdin", "--not", "--single-worktree", "--all", head, base];
    let with = CallOptions { input: commits.join("\n").into(), ..CallOptions::default() };
    let lost = git.run_with("rev-list", worktree, &args, &with).await?;
    let lost = lost.text();
    // The tips suffice: commits that are not a parent of another one.
    let parents: BTreeSet<&str> = lost.lines().flat_map(|line| line.split(' ').skip(1)).collect();
    let tips = lost.lines().filter_map(|line| line.split(' ').next()).filter(|commit| !parents.contains(commit));
    Ok(tips.map(str::to_owned).collect())
}

/// Whether staged content was overwritten in the files.
async fn has_overwritten_staging(
    git: &Git,
    worktree: &Path,
    [head, staged, tree]: [&str; 3],
) -> Result<bool, WorkspaceError> {
    if staged == head || staged == tree {
        return Ok(false);
    }
    let changed = |filter, from, to| {
        let args = ["diff-tree", "-r", "--name-only", "-z", "--no-renames", filter, from, to];
        async move { git.list("diff-tree", worktree, &args).await }
    };
    let (by_staging, later) =
        tokio::try_join!(changed("--diff-filter=AMT", head, staged), changed("--diff-filter=MTD", staged, tree))?;
    let later: BTreeSet<&[u8]> = names(&later).collect();
    Ok(names(&by_staging).any(|path| later.contains(path)))
}

/// Fails on nested repositories that are new, moved, or submodules with changes: their content is not in the tree.
async fn refuse_nested(git: &Git, worktree: &Path, base: &str, tree: &str) -> Result<(), WorkspaceError> {
    let changed = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty", base, tree];
    let changed = git.list("diff-tree", worktree, &changed).await?;
    let links = |entry: &[u8]| entry.starts_with(b":") && entry.split(|byte| *byte == b' ').nth(1) == Some(GITLINK);
    if names(&changed).any(links) || nested::are_changed(git, worktree).await? {
        return Err(WorkspaceError::Nested(worktree.to_owned()));
    }
    Ok(())
}
