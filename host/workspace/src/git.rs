//! The git commands that are used, each a method. Paths and names are never taken for options. How git is started, and
//! what ends it, is `call`'s.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::{Environment, ExitStatus, RunLimits};
use agentbay_os::process::Captured;
use tokio_util::sync::CancellationToken;

use super::call::With;
use super::error::WorkspaceError;
use super::overrides::Overrides;
use super::repo_lock::{RepoLock, RepoLocks};

/// Bytes of what git prints that are read at the most: a file that is text, or a list of some 500,000 files.
pub(super) const LARGEST: usize = 64 * 1024 * 1024;

/// The installed git, called without the variables of whoever started the host. No command goes on for longer than the
/// limit, nor when nobody wants its result any more.
#[derive(Debug, Clone)]
pub struct Git {
    pub(super) host: Arc<Environment>,
    locks: RepoLocks,
    /// How long one command may take.
    pub(super) limit: Duration,
    /// The worktree that is a run's own, which git knows whatever has become of the file in it that says so.
    pub(super) worktree: Option<Arc<Own>>,
    /// What goes over the settings of each repository that was asked.
    pub(super) overrides: Arc<tokio::sync::Mutex<HashMap<PathBuf, Arc<Overrides>>>>,
    /// Cancelled when nobody wants the results any more.
    pub(super) unwanted: CancellationToken,
}

/// A worktree that was made for a run.
#[derive(Debug)]
pub(super) struct Own {
    /// Its files.
    pub(super) tree: PathBuf,
    /// Git's own folder of it.
    pub(super) folder: PathBuf,
}

impl Git {
    /// git as it is found on the host's PATH, for no run and with the usual limit.
    pub fn new(host: Environment) -> Self {
        let (limit, unwanted) = (RunLimits::default().git, CancellationToken::new());
        let (locks, overrides) = (RepoLocks::default(), Arc::default());
        Self { host: Arc::new(host), locks, limit, worktree: None, overrides, unwanted }
    }

    /// The same with another limit, and wanted.
    pub fn with_limit(&self, limit: Duration) -> Self {
        Self { limit, unwanted: CancellationToken::new(), ..self.afresh() }
    }

    /// The same for what comes after a process that may have changed the settings of a repository.
    pub fn afresh(&self) -> Self {
        Self { overrides: Arc::default(), ..self.clone() }
    }

    /// The same for a worktree that was made for the run in this repository.
    pub(super) async fn in_worktree(&self, repo: &Path, tree: &Path) -> Result<Self, WorkspaceError> {
        let folder = self.common(repo).await?.join("worktrees").join(tree.file_name().unwrap_or_default());
        let worktree = folder.is_dir().then(|| Arc::new(Own { tree: tree.to_owned(), folder }));
        Ok(Self { worktree, ..self.afresh() })
    }

    /// The folder that a repository and its worktrees have in common.
    async fn common(&self, repo: &Path) -> Result<PathBuf, WorkspaceError> {
        let ask = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        Ok(self.line("rev-parse", repo, &ask).await?.into())
    }

    /// The same until the token is cancelled: what runs then is ended, and nothing is started any more.
    pub fn until(&self, unwanted: &CancellationToken) -> Self {
        Self { unwanted: unwanted.clone(), ..self.clone() }
    }

    /// The commit that a name stands for, if it stands for one.
    pub(super) async fn commit(&self, repo: &Path, name: &str) -> Result<Option<String>, WorkspaceError> {
        // Fails where there is no repository; a name that stands for nothing is no failure.
        self.run("rev-parse", repo, &["rev-parse", "--git-dir"]).await?;
        self.object(repo, &format!("{name}^{{commit}}")).await
    }

    /// The id of what a name stands for, if it stands for anything.
    pub(super) async fn object(&self, repo: &Path, name: &str) -> Result<Option<String>, WorkspaceError> {
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        let captured = self.capture("rev-parse", repo, &args, &With::default()).await?;
        Ok((captured.status == ExitStatus::Code(0)).then(|| captured.text().trim().to_owned()))
    }

    /// Makes a worktree with a detached HEAD at a commit.
    pub(super) async fn add_worktree(&self, repo: &Path, worktree: &Path, at: &str) -> Result<(), WorkspaceError> {
        let _lock = self.lock(repo).await?;
        let path = worktree.display().to_string();
        self.run("worktree add", repo, &["worktree", "add", "--detach", &path, at]).await.map(drop)
    }

    /// Removes a worktree with all that is in it, also one that is locked, or that was never finished. What must not be
    /// lost has been saved before.
    pub(super) async fn remove_worktree(&self, repo: &Path, worktree: &Path) -> Result<(), WorkspaceError> {
        let _lock = self.lock(repo).await?;
        let path = worktree.display().to_string();
        self.run("worktree remove", repo, &["worktree", "remove", "--force", "--force", &path]).await.map(drop)
    }

    /// The absolute path of git's folder of a working tree.
    pub(super) async fn folder(&self, tree: &Path) -> Result<PathBuf, WorkspaceError> {
        Ok(self.line("rev-parse", tree, &["rev-parse", "--absolute-git-dir"]).await?.into())
    }

    /// The commit that HEAD names.
    pub(super) async fn head(&self, repo: &Path) -> Result<String, WorkspaceError> {
        self.line("rev-parse", repo, &["rev-parse", "--verify", "HEAD"]).await
    }

    /// Makes sure that refs of these names can be made: another one may be in the way.
    pub(super) async fn can_keep(&self, repo: &Path, names: [&str; 2], commit: &str) -> Result<(), WorkspaceError> {
        let creates: String = names.iter().map(|name| format!("create {name} {commit}\n")).collect();
        let input = format!("start\n{creates}prepare\nabort\n").into();
        let with = With { input, ..With::default() };
        match self.run_with("update-ref", repo, &["update-ref", "--stdin"], &with).await {
            Err(WorkspaceError::Git { stderr, .. }) => {
                Err(WorkspaceError::NoRef { repo: repo.to_owned(), reason: stderr })
            }
            made => made.map(drop),
        }
    }

    /// Makes a ref name a commit, so that it is kept.
    pub(super) async fn keep(&self, repo: &Path, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.run("update-ref", repo, &["update-ref", name, commit]).await.map(drop)
    }

    /// HEAD and everything that differs from it, in the form of `status --porcelain=v2 -z`. Into repositories inside it
    /// does not look.
    pub(super) async fn status(&self, repo: &Path) -> Result<Vec<u8>, WorkspaceError> {
        let args = ["status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignore-submodules=dirty", "-z"];
        self.list("status", repo, &args).await
    }

    /// All that git prints.
    pub(super) async fn list(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
    ) -> Result<Vec<u8>, WorkspaceError> {
        Ok(self.run(command, repo, args).await?.stdout)
    }

    /// All that git prints, undecodable bytes replaced.
    pub(super) async fn text(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
    ) -> Result<String, WorkspaceError> {
        Ok(self.run(command, repo, args).await?.text().into_owned())
    }

    /// What git prints as one line.
    pub(super) async fn line(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
    ) -> Result<String, WorkspaceError> {
        Ok(self.run(command, repo, args).await?.text().trim().to_owned())
    }

    /// Runs a command that must succeed.
    pub(super) async fn run(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
    ) -> Result<Captured, WorkspaceError> {
        self.run_with(command, repo, args, &With::default()).await
    }

    /// Waits for the lock of the repository that a folder belongs to, the same for all its worktrees. It is held as long as
    /// the result is.
    pub(super) async fn lock(&self, repo: &Path) -> Result<RepoLock, WorkspaceError> {
        let common = self.common(repo).await?;
        tokio::select! {
            lock = self.locks.lock(&common, self.limit) => Ok(lock),
            () = self.unwanted.cancelled() => Err(WorkspaceError::Unwanted),
        }
    }

    /// What was changed from one commit to another, as a patch of at most so many bytes.
    pub(super) async fn patch(
        &self,
        repo: &Path,
        from: &str,
        to: &str,
        most: usize,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let options = ["diff", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv"];
        let args = [&options[..], &["--end-of-options", from, to]].concat();
        Ok(self.run_with("diff", repo, &args, &With { most, ..With::default() }).await?.stdout)
    }

    /// The content of a file by its id, which must be text.
    pub(super) async fn content(&self, repo: &Path, id: &str) -> Result<String, WorkspaceError> {
        let content = self.list("cat-file", repo, &["cat-file", "blob", id]).await?;
        String::from_utf8(content).map_err(|_| WorkspaceError::NotText { repo: repo.to_owned(), id: id.to_owned() })
    }
}
