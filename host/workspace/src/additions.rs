//! Commits new files that an agent left in the folder for helper scripts, after its run and with a log entry. Nothing else is
//! committed, and the user's changes stay changed or staged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agentbay_domain::{RepoPath, RunId};
use jiff::Timestamp;

use super::call::CallOptions;
use super::error::WorkspaceError;
use super::git::Git;
use super::log_file::LogFile;
use super::temp_index::TempIndex;

/// Files in the git folder while an operation is in progress that ends with a commit.
const OPERATIONS: [&str; 6] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG"];

/// The state of the folder for helper scripts before a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Additions {
    /// The top of the working tree.
    top: PathBuf,
    /// The folder, relative to the top.
    dir: String,
    log: LogFile,
    /// The files that were not committed then.
    before: Uncommitted,
}

/// The author of added files.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// The run.
    pub run: RunId,
    /// The name of its model.
    pub model: &'a str,
    /// When it ended.
    pub at: Timestamp,
}

/// Files in a folder that HEAD does not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Uncommitted {
    /// In the index.
    staged: BTreeSet<String>,
    /// Not in the index, and not ignored.
    untracked: BTreeSet<String>,
}

impl Additions {
    /// Records the state of the folder before a run.
    ///
    /// # Errors
    /// `workdir` is not in a repository with a commit, or git fails.
    pub async fn before(git: &Git, workdir: &Path, dir: &RepoPath, log: &RepoPath) -> Result<Self, WorkspaceError> {
        let place = git.line("rev-parse", workdir, &["rev-parse", "--show-toplevel", "--show-prefix"]).await?;
        let (top, prefix) = place.split_once('\n').unwrap_or((&place, ""));
        let (top, dir) = (PathBuf::from(top), format!("{prefix}{dir}"));
        let before = Uncommitted::now(git, &top, &dir).await?;
        Ok(Self { log: LogFile::new(&top, format!("{prefix}{log}")), top, dir, before })
    }

    /// Commits the files added since then to the branch that is checked out, and returns the commit; `None` if no files were
    /// added.
    ///
    /// # Errors
    /// A merge or a similar operation is in progress, another process commits at the same moment, or git fails. No file is
    /// lost then.
    pub async fn commit(&self, git: &Git, author: Author<'_>) -> Result<Option<String>, WorkspaceError> {
        let _lock = git.lock(&self.top).await?;
        let now = Uncommitted::now(git, &self.top, &self.dir).await?;
        let added: Vec<&str> = now.all().filter(|path| !self.before.has(path) && self.is_helper(path)).collect();
        if added.is_empty() {
            return Ok(None);
        }
        let folder = self.folder_without_operation(git).await?;
        let entry = entry(&author, &added);
        let head = git.head(&self.top).await?;
        let log = self.log.with_entry(git, &head, &entry).await?;
        let index = TempIndex::of_commit(git, &self.top, &folder, &head).await?;
        index.add(&added).await?;
        index.add_info(&self.log.index_info(&log.committed)).await?;
        let tree = index.write().await?;
        let message = format!("Helpers that an agent added\n\nRun: {}\nModel: {}", author.run, author.model);
        let commit = git.line("commit-tree", &self.top, &["commit-tree", &tree, "-p", &head, "-m", &message]).await?;
        // With the expected old value: a concurrent commit of another process is not lost.
        git.run("update-ref", &self.top, &["update-ref", "-m", "agentbay: helpers", "HEAD", &commit, &head]).await?;
        self.update_user_index(git, [&head, &commit], &now.untracked, &log.staged).await?;
        self.log.append(&entry)?;
        Ok(Some(commit))
    }

    /// Only plain files: a link or a nested repository is not committed.
    fn is_helper(&self, path: &str) -> bool {
        let is_file = fs::symlink_metadata(self.top.join(path)).is_ok_and(|found| found.is_file());
        // Git's mark for a name that is not UTF-8.
        is_file && !path.contains(char::REPLACEMENT_CHARACTER) && path != self.log.path()
    }

    /// The git folder, unless an operation is in progress.
    async fn folder_without_operation(&self, git: &Git) -> Result<PathBuf, WorkspaceError> {
        let folder = git.folder(&self.top).await?;
        match OPERATIONS.into_iter().find(|what| folder.join(what).exists()) {
            Some(what) => Err(WorkspaceError::OperationInProgress { repo: self.top.clone(), what }),
            None => Ok(folder),
        }
    }

    /// Adds the committed files to the user's index, and nothing else.
    async fn update_user_index(
        &self,
        git: &Git,
        commits: [&str; 2],
        added: &BTreeSet<String>,
        log: &str,
    ) -> Result<(), WorkspaceError> {
        let [head, commit] = commits;
        let args = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--diff-filter=A", head, commit];
        let listed = git.text("diff-tree", &self.top, &args).await?;
        let mut fields = listed.split_terminator('\0');
        let mut info = self.log.index_info(log);
        // `:MODE MODE ID ID A`, then the path.
        while let (Some(entry), Some(path)) = (fields.next(), fields.next()) {
            let entry: Vec<&str> = entry.split(' ').collect();
            if let [_, mode, _, id, _] = entry.as_slice()
                && added.contains(path)
            {
                info.push_str(&format!("{mode} {id}\t{path}\0"));
            }
        }
        let with = CallOptions { input: info.into(), ..CallOptions::default() };
        git.run_with("update-index", &self.top, &["update-index", "-z", "--index-info"], &with).await.map(drop)
    }
}

impl Uncommitted {
    async fn now(git: &Git, top: &Path, dir: &str) -> Result<Self, WorkspaceError> {
        let untracked = ["--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "-z", "--", dir];
        let staged = [
            "--literal-pathspecs",
            "diff-index",
            "--cached",
            "--diff-filter=A",
            "--no-renames",
            "--name-only",
            "-z",
            "HEAD",
            "--",
            dir,
        ];
        let (untracked, staged) =
            tokio::try_join!(git.text("ls-files", top, &untracked), git.text("diff-index", top, &staged))?;
        Ok(Self { staged: names(&staged), untracked: names(&untracked) })
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.staged.union(&self.untracked).map(String::as_str)
    }

    fn has(&self, path: &str) -> bool {
        self.staged.contains(path) || self.untracked.contains(path)
    }
}

fn names(listed: &str) -> BTreeSet<String> {
    listed.split_terminator('\0').map(str::to_owned).collect()
}

/// One line of the log.
fn entry(author: &Author<'_>, added: &[&str]) -> String {
    let files: Vec<String> = added.iter().map(|path| format!("`{}`", path.escape_debug())).collect();
    let Author { run, model, at } = author;
    format!("- {} run `{run}` of `{model}`: {}\n", at.strftime("%Y-%m-%dT%H:%M:%SZ"), files.join(", "))
}
