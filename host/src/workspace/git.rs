//! The git commands that are used, each a method. Paths and names are never taken for options.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::WorkspaceError;
use crate::domain::ExitStatus;
use crate::process::{self, Captured, Command, HostVariables, Variables};

/// How long git's own descendants may hold its streams open.
const GRACE: Duration = Duration::from_secs(5);

/// The installed git, called without the variables of whoever started the host.
#[derive(Debug, Clone)]
pub struct Git {
    host: HostVariables,
}

impl Git {
    /// git as it is found on the host's PATH.
    pub fn new(host: HostVariables) -> Self {
        Self { host }
    }

    /// Makes a worktree with a detached HEAD at the repository's HEAD.
    pub(super) async fn add_worktree(&self, repo: &Path, worktree: &Path) -> Result<(), WorkspaceError> {
        let path = worktree.display().to_string();
        self.run("worktree add", repo, &["worktree", "add", &path, "HEAD"]).await.map(drop)
    }

    /// Removes a worktree, unless it holds changes or files that git does not know.
    pub(super) async fn remove_worktree(&self, repo: &Path, worktree: &Path) -> Result<(), WorkspaceError> {
        let path = worktree.display().to_string();
        self.run("worktree remove", repo, &["worktree", "remove", &path]).await.map(drop)
    }

    /// The commit that HEAD names.
    pub(super) async fn head(&self, repo: &Path) -> Result<String, WorkspaceError> {
        let head = self.run("rev-parse", repo, &["rev-parse", "--verify", "HEAD"]).await?;
        Ok(head.stdout.trim().to_owned())
    }

    /// Makes a ref name a commit, so that it is kept.
    pub(super) async fn keep(&self, repo: &Path, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.run("update-ref", repo, &["update-ref", name, commit]).await.map(drop)
    }

    /// HEAD and everything that differs from it.
    pub(super) async fn status(&self, repo: &Path) -> Result<String, WorkspaceError> {
        let args = ["status", "--porcelain=v2", "--branch", "--untracked-files=all", "-z"];
        self.run("status", repo, &args).await.map(|said| said.stdout)
    }

    async fn run(&self, command: &'static str, repo: &Path, args: &[&str]) -> Result<Captured, WorkspaceError> {
        let executable = process::find(Path::new("git"), self.host.get("PATH"))?;
        let mut variables = Variables::base(&self.host);
        let fixed = [("LC_ALL", "C"), ("GIT_TERMINAL_PROMPT", "0")];
        variables.plan(&fixed.map(|(name, value)| (name.to_owned(), Some(value.to_owned()))));
        let mut all = vec!["-C".to_owned(), repo.display().to_string()];
        all.extend(args.iter().map(|&arg| arg.to_owned()));
        let workdir = PathBuf::from("/");
        let captured = process::capture(Command { executable, args: all, workdir, variables, grace: GRACE }).await?;
        if captured.status == ExitStatus::Code(0) {
            return Ok(captured);
        }
        Err(WorkspaceError::Git { command, repo: repo.to_owned(), stderr: captured.stderr.trim().to_owned() })
    }
}
