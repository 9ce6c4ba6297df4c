//! New files that an agent left in the folder for its helpers, committed after its run with an entry in a log. Nothing
//! else is committed, and what the user has changed or staged stays changed or staged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agentbay_domain::{RepoPath, RunId};
use jiff::Timestamp;

use super::call::With;
use super::error::WorkspaceError;
use super::git::Git;
use super::log_file::LogFile;
use super::own_index::OwnIndex;

/// What git keeps in its folder while something is under way that ends in a commit of its own.
const UNDER_WAY: [&str; 6] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG"];

/// The folder for helpers as it was before a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Additions {
    /// The top of the working tree.
    top: PathBuf,
    /// The folder, from there.
    dir: String,
    log: LogFile,
    /// The files that no commit knew then.
    before: Uncommitted,
}

/// Who added the files.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// The run.
    pub run: RunId,
    /// The name of its model.
    pub model: &'a str,
    /// When it ended.
    pub at: Timestamp,
}

/// Files in a folder which the newest commit does not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Uncommitted {
    /// In the index.
    staged: BTreeSet<String>,
    /// Not in the index, and not ignored.
    untracked: BTreeSet<String>,
}

impl Additions {
    /// Looks at the folder before a run.
    ///
    /// # Errors
    /// `workdir` is in no repository with a commit, or git fails.
    pub async fn before(git: &Git, workdir: &Path, dir: &RepoPath, log: &RepoPath) -> Result<Self, WorkspaceError> {
        let place = git.line("rev-parse", workdir, &["rev-parse", "--show-toplevel", "--show-prefix"]).await?;
        let (top, prefix) = place.split_once('\n').unwrap_or((&place, ""));
        let (top, dir) = (PathBuf::from(top), format!("{prefix}{dir}"));
        let before = Uncommitted::now(git, &top, &dir).await?;
        Ok(Self { log: LogFile::new(&top, format!("{prefix}{log}")), top, dir, before })
    }

    /// Commits what has been added since then to the branch that is checked out, and gives the commit; none if nothing
    /// has been added.
    ///
    /// # Errors
    /// A merge or the like is under way, somebody else commits at the same moment, or git fails. All files are still
    /// there then.
    pub async fn commit(&self, git: &Git, author: Author<'_>) -> Result<Option<String>, WorkspaceError> {
        let _lock = git.lock(&self.top).await?;
        let now = Uncommitted::now(git, &self.top, &self.dir).await?;
        let added: Vec<&str> = now.all().filter(|path| !self.before.has(path) && self.is_helper(path)).collect();
        if added.is_empty() {
            return Ok(None);
        }
        let folder = self.nothing_under_way(git).await?;
        let entry = entry(&author, &added);
        let head = git.head(&self.top).await?;
        let log = self.log.with_entry(git, &head, &entry).await?;
        let index = OwnIndex::of_commit(git, &self.top, &folder, &head).await?;
        index.add(&added).await?;
        index.put(&self.log.index_info(&log.committed)).await?;
        let tree = index.write().await?;
        let message = format!("Helpers that an agent added\n\nRun: {}\nModel: {}", author.run, author.model);
        let commit = git.line("commit-tree", &self.top, &["commit-tree", &tree, "-p", &head, "-m", &message]).await?;
        // Names the commit that it is to stand on: one that somebody made meanwhile is not lost.
        git.run("update-ref", &self.top, &["update-ref", "-m", "agentbay: helpers", "HEAD", &commit, &head]).await?;
        self.tell_index(git, [&head, &commit], &now.untracked, &log.staged).await?;
        self.log.append(&entry)?;
        Ok(Some(commit))
    }

    /// Only plain files: what a link leads to, or another repository inside, is not the agent's to add.
    fn is_helper(&self, path: &str) -> bool {
        let is_file = fs::symlink_metadata(self.top.join(path)).is_ok_and(|found| found.is_file());
        // Git's way to say that it is no text.
        is_file && !path.contains(char::REPLACEMENT_CHARACTER) && path != self.log.path()
    }

    /// The folder of git, if nothing is under way in it.
    async fn nothing_under_way(&self, git: &Git) -> Result<PathBuf, WorkspaceError> {
        let folder = git.folder(&self.top).await?;
        match UNDER_WAY.into_iter().find(|what| folder.join(what).exists()) {
            Some(what) => Err(WorkspaceError::UnderWay { repo: self.top.clone(), what }),
            None => Ok(folder),
        }
    }

    /// Tells the user's index of the files that are committed now, and of nothing else.
    async fn tell_index(
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
        let with = With { input: info.into(), ..With::default() };
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
