//! The git commands in use, one method each. Paths and names are never interpreted as options. `call` starts and ends git.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::{Environment, ExitStatus, RunLimits};
use agentbay_os::process::Captured;
use tokio_util::sync::CancellationToken;

use super::call::CallOptions;
use super::error::WorkspaceError;
use super::overrides::Overrides;
use super::repo_lock::{RepoLock, RepoLocks};

/// Maximum bytes of git's output that are read: a text file, or a list of some 500,000 files.
pub(super) const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// The installed git, called without the variables of the host's environment that are not on the allow-list. A command ends
/// at the limit, or when its result is no longer needed.
#[derive(Debug, Clone)]
pub struct Git {
    pub(super) env: Arc<Environment>,
    locks: RepoLocks,
    /// Time limit of one command.
    pub(super) limit: Duration,
    /// The worktree of the run: git is directed to it even if the run has damaged its `.git` file.
    pub(super) worktree: Option<Arc<RunWorktree>>,
    /// Overrides of the settings of each repository that was used.
    pub(super) overrides: Arc<tokio::sync::Mutex<HashMap<PathBuf, Arc<Overrides>>>>,
    /// Cancelled when the results are no longer needed.
    pub(super) cancel: CancellationToken,
}

/// A worktree that was created for a run.
#[derive(Debug)]
pub(super) struct RunWorktree {
    /// Its working tree.
    pub(super) tree: PathBuf,
    /// Its git folder.
    pub(super) folder: PathBuf,
}

impl Git {
    /// The git on the host's PATH, for no particular run and with the default limit.
    pub fn new(env: Environment) -> Self {
        let (limit, cancel) = (RunLimits::default().git_timeout, CancellationToken::new());
        let (locks, overrides) = (RepoLocks::default(), Arc::default());
        Self { env: Arc::new(env), locks, limit, worktree: None, overrides, cancel }
    }

    /// The same with another limit, and not cancelled.
    pub fn with_limit(&self, limit: Duration) -> Self {
        Self { limit, cancel: CancellationToken::new(), ..self.with_fresh_settings() }
    }

    /// The same without cached settings, for use after a process that may have changed the settings of a repository.
    pub fn with_fresh_settings(&self) -> Self {
        Self { overrides: Arc::default(), ..self.clone() }
    }

    /// The same for a run's worktree of this repository.
    pub(super) async fn in_worktree(&self, repo: &Path, tree: &Path) -> Result<Self, WorkspaceError> {
        let folder = self.common(repo).await?.join("worktrees").join(tree.file_name().unwrap_or_default());
        let worktree = folder.is_dir().then(|| Arc::new(RunWorktree { tree: tree.to_owned(), folder }));
        Ok(Self { worktree, ..self.with_fresh_settings() })
    }

    /// The git folder that a repository and its worktrees share.
    async fn common(&self, repo: &Path) -> Result<PathBuf, WorkspaceError> {
        let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        Ok(self.line("rev-parse", repo, &args).await?.into())
    }

    /// The same with a cancellation token: when it is cancelled, the running command is ended and none is started.
    pub fn until(&self, cancel: &CancellationToken) -> Self {
        Self { cancel: cancel.clone(), ..self.clone() }
    }

    /// The commit that a name resolves to, if any.
    pub(super) async fn commit(&self, repo: &Path, name: &str) -> Result<Option<String>, WorkspaceError> {
        // Fails if there is no repository; a name that resolves to nothing is not a failure.
        self.run("rev-parse", repo, &["rev-parse", "--git-dir"]).await?;
        self.object(repo, &format!("{name}^{{commit}}")).await
    }

    /// The id of the object that a name resolves to, if any.
    pub(super) async fn object(&self, repo: &Path, name: &str) -> Result<Option<String>, WorkspaceError> {
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        let captured = self.capture("rev-parse", repo, &args, &CallOptions::default()).await?;
        Ok((captured.status == ExitStatus::Code(0)).then(|| captured.text().trim().to_owned()))
    }

    /// Creates a worktree with a detached HEAD at a commit.
    pub(super) async fn add_worktree(&self, repo: &Path, worktree: &Path, at: &str) -> Result<(), WorkspaceError> {
        let _lock = self.lock(repo).await?;
        let path = worktree.display().to_string();
        self.run("worktree add", repo, &["worktree", "add", "--detach", &path, at]).await.map(drop)
    }

    /// Removes a worktree with its content, also one that is locked or incomplete. Its work has been saved before.
    pub(super) async fn remove_worktree(&self, repo: &Path, worktree: &Path) -> Result<(), WorkspaceError> {
        let _lock = self.lock(repo).await?;
        let path = worktree.display().to_string();
        self.run("worktree remove", repo, &["worktree", "remove", "--force", "--force", &path]).await.map(drop)
    }

    /// The absolute path of the git folder of a working tree.
    pub(super) async fn folder(&self, tree: &Path) -> Result<PathBuf, WorkspaceError> {
        Ok(self.line("rev-parse", tree, &["rev-parse", "--absolute-git-dir"]).await?.into())
    }

    /// The commit of HEAD.
    pub(super) async fn head(&self, repo: &Path) -> Result<String, WorkspaceError> {
        self.line("rev-parse", repo, &["rev-parse", "--verify", "HEAD"]).await
    }

    /// Checks that refs of these names can be created: another ref may conflict.
    pub(super) async fn check_refs(&self, repo: &Path, names: [&str; 2], commit: &str) -> Result<(), WorkspaceError> {
        let creates: String = names.iter().map(|name| format!("create {name} {commit}\n")).collect();
        let input = format!("start\n{creates}prepare\nabort\n").into();
        let with = CallOptions { input, ..CallOptions::default() };
        match self.run_with("update-ref", repo, &["update-ref", "--stdin"], &with).await {
            Err(WorkspaceError::Git { stderr, .. }) => {
                Err(WorkspaceError::RefConflict { repo: repo.to_owned(), reason: stderr })
            }
            checked => checked.map(drop),
        }
    }

    /// Sets a ref to a commit, so that the commit is kept.
    pub(super) async fn set_ref(&self, repo: &Path, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.run("update-ref", repo, &["update-ref", name, commit]).await.map(drop)
    }

    /// HEAD and everything that differs from it, in the format of `status --porcelain=v2 -z`. Nested repositories are not
    /// inspected.
    pub(super) async fn status(&self, repo: &Path) -> Result<Vec<u8>, WorkspaceError> {
        let args = ["status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignore-submodules=dirty", "-z"];
        self.list("status", repo, &args).await
    }

    /// The output of a command.
    pub(super) async fn list(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
    ) -> Result<Vec<u8>, WorkspaceError> {
        Ok(self.run(command, repo, args).await?.stdout)
    }

    /// The output of a command as text, undecodable bytes replaced.
    pub(super) async fn text(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
    ) -> Result<String, WorkspaceError> {
        Ok(self.run(command, repo, args).await?.text().into_owned())
    }

    /// The output of a command as one line.
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
        self.run_with(command, repo, args, &CallOptions::default()).await
    }

    /// Waits for the lock of the repository that a folder belongs to; all its worktrees share it. It is held until the result
    /// is dropped.
    pub(super) async fn lock(&self, repo: &Path) -> Result<RepoLock, WorkspaceError> {
        let common = self.common(repo).await?;
        tokio::select! {
            lock = self.locks.lock(&common, self.limit) => Ok(lock),
            () = self.cancel.cancelled() => Err(WorkspaceError::Cancelled),
        }
    }

    /// The changes from one commit to another, as a patch of at most `max` bytes.
    pub(super) async fn patch(&self, repo: &Path, from: &str, to: &str, max: usize) -> Result<Vec<u8>, WorkspaceError> {
        let options = ["diff", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv"];
        let args = [&options[..], &["--end-of-options", from, to]].concat();
        Ok(self.run_with("diff", repo, &args, &CallOptions { max, ..CallOptions::default() }).await?.stdout)
    }

    /// The content of a text file by its object id.
    pub(super) async fn content(&self, repo: &Path, id: &str) -> Result<String, WorkspaceError> {
        let content = self.list("cat-file", repo, &["cat-file", "blob", id]).await?;
        String::from_utf8(content).map_err(|_| WorkspaceError::NotText { repo: repo.to_owned(), id: id.to_owned() })
    }
}
