//! The work that a run left in its worktree, saved as a commit without touching the index or a branch of anybody.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io, iter};

use agentbay_domain::RunId;

use super::call::With;
use super::error::WorkspaceError;
use super::git::Git;
use super::nested::{self, GITLINK};
use super::own_index::{OwnIndex, names};

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
    let is_gone = !worktree.exists();
    if is_gone {
        // Git has to be somewhere. That the folder is gone is not taken for work.
        let refuse = |error: io::Error| WorkspaceError::Folder { path: worktree.into(), reason: error.to_string() };
        fs::create_dir(worktree).map_err(refuse)?;
    }
    let head = git.head(worktree).await?;
    let head_tree = git.line("rev-parse", worktree, &["rev-parse", "--verify", "HEAD^{tree}"]).await?;
    let folder = git.folder(worktree).await?;
    let (mut staged, mut tree) = (head_tree.clone(), head_tree.clone());
    if !is_gone {
        let index = OwnIndex::copied(git, worktree, &folder, &head).await?;
        // With conflicts in it, it holds nothing that is not in the files or in commits.
        staged = index.write().await.unwrap_or(staged);
        index.add_all().await?;
        tree = index.write().await?;
        refuse_nested(git, worktree, base, &tree).await?;
    }

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
    let been = git.text("reflog", worktree, &["reflog", "show", "--format=%H", "HEAD", "--"]).await?;
    let mut been: BTreeSet<&str> = been.lines().filter(|commit| *commit != head && *commit != base).collect();
    let merged = fs::read_to_string(folder.join("MERGE_HEAD")).unwrap_or_default();
    been.extend(merged.lines());
    if been.is_empty() {
        return Ok(Vec::new());
    }
    let commits: Vec<&str> = been.into_iter().collect();
    let args = ["rev-list", "--parents", "--stdin", "--not", "--single-worktree", "--all", head, base];
    let with = With { input: commits.join("\n").into(), ..With::default() };
    let lost = git.run_with("rev-list", worktree, &args, &with).await?;
    let lost = lost.text();
    // Those that lead to the others are enough: they are nobody's parents.
    let parents: BTreeSet<&str> = lost.lines().flat_map(|line| line.split(' ').skip(1)).collect();
    let tips = lost.lines().filter_map(|line| line.split(' ').next()).filter(|commit| !parents.contains(commit));
    Ok(tips.map(str::to_owned).collect())
}

/// Whether something was staged that the files do not show any more.
async fn is_hidden(git: &Git, worktree: &Path, [head, staged, tree]: [&str; 3]) -> Result<bool, WorkspaceError> {
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

/// Other repositories inside: new ones, moved ones, and submodules with changes. Their content is not in the tree.
async fn refuse_nested(git: &Git, worktree: &Path, base: &str, tree: &str) -> Result<(), WorkspaceError> {
    let changed = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty", base, tree];
    let changed = git.list("diff-tree", worktree, &changed).await?;
    let links = |entry: &[u8]| entry.starts_with(b":") && entry.split(|byte| *byte == b' ').nth(1) == Some(GITLINK);
    if names(&changed).any(links) || nested::are_changed(git, worktree).await? {
        return Err(WorkspaceError::Nested(worktree.to_owned()));
    }
    Ok(())
}
