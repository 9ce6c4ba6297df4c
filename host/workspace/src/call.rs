//! Starts git: its environment, its time limit, and reattempts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::{ExitStatus, RunId};
use agentbay_os::process::{self, Captured, Command, Variables};
use bytes::Bytes;
use tokio::time::sleep;

use super::error::WorkspaceError;
use super::git::{Git, MAX_OUTPUT};
use super::overrides::Overrides;
use super::repository;

/// How long git may take to end when asked to, and how long its descendants may hold its output open.
const GRACE: Duration = Duration::from_millis(500);

/// Maximum number of attempts of a command that meets the lock of another git.
const LOCK_ATTEMPTS: u32 = 6;

/// The first wait for the lock of another git. Each next wait is longer by the same amount.
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// The author of commits that save a run's work; and no optional locks, which would delay others.
const FIXED: [(&str, &str); 7] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_AUTHOR_NAME", "AgentBay"),
    ("GIT_AUTHOR_EMAIL", "agentbay@localhost"),
    ("GIT_COMMITTER_NAME", "AgentBay"),
    ("GIT_COMMITTER_EMAIL", "agentbay@localhost"),
];

/// Options of a command besides its arguments.
#[derive(Debug, Clone)]
pub(super) struct CallOptions<'a> {
    /// Environment variables.
    pub(super) env: &'a [(&'a str, &'a str)],
    /// Standard input.
    pub(super) input: Bytes,
    /// Maximum bytes of output.
    pub(super) max: usize,
}

impl Default for CallOptions<'_> {
    fn default() -> Self {
        Self { env: &[], input: Bytes::new(), max: MAX_OUTPUT }
    }
}

/// The reason why a command was ended.
#[derive(Debug, Clone, Copy)]
enum End {
    TimedOut,
    Cancelled,
}

impl Git {
    /// Runs a command that must succeed, with options. It is retried if another git holds a lock.
    pub(super) async fn run_with(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
        with: &CallOptions<'_>,
    ) -> Result<Captured, WorkspaceError> {
        let mut attempts = 0;
        loop {
            let captured = self.capture(command, repo, args, with).await?;
            if captured.status == ExitStatus::Code(0) {
                return Ok(captured);
            }
            attempts += 1;
            if attempts >= LOCK_ATTEMPTS || !is_lock_conflict(&captured.stderr) {
                let stderr = captured.stderr.trim().to_owned();
                return Err(WorkspaceError::Git { command, repo: repo.to_owned(), stderr });
            }
            sleep(LOCK_WAIT * attempts).await;
        }
    }

    /// Runs a command to its end, successful or not.
    pub(super) async fn capture(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
        with: &CallOptions<'_>,
    ) -> Result<Captured, WorkspaceError> {
        let overrides = self.overrides(repo).await?;
        self.capture_with(command, repo, args, with, &overrides).await
    }

    /// Overrides of the settings of a repository. The settings are read once: a run uses another `Git` after its CLI than before.
    async fn overrides(&self, repo: &Path) -> Result<Arc<Overrides>, WorkspaceError> {
        let mut known = self.overrides.lock().await;
        if let Some(known) = known.get(repo) {
            return Ok(Arc::clone(known));
        }
        let args = ["config", "--list", "--show-scope", "-z"];
        let listed = self.capture_with("config", repo, &args, &CallOptions::default(), &Overrides::default()).await?;
        if listed.status != ExitStatus::Code(0) {
            let stderr = listed.stderr.trim().to_owned();
            return Err(WorkspaceError::Git { command: "config", repo: repo.to_owned(), stderr });
        }
        let overrides = Arc::new(Overrides::for_config(&listed.stdout));
        known.insert(repo.to_owned(), Arc::clone(&overrides));
        Ok(overrides)
    }

    async fn capture_with(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
        with: &CallOptions<'_>,
        overrides: &Overrides,
    ) -> Result<Captured, WorkspaceError> {
        if self.cancel.is_cancelled() {
            return Err(WorkspaceError::Cancelled);
        }
        let end = async {
            tokio::select! {
                () = sleep(self.limit) => End::TimedOut,
                () = self.cancel.cancelled() => End::Cancelled,
            }
        };
        let max = with.max.saturating_add(1);
        let started = self.command(repo, args, with.env, overrides)?;
        match process::capture_until(started, with.input.clone(), max, end).await? {
            // Output that may be truncated is not used.
            Ok(captured) if captured.stdout.len() > with.max => {
                Err(WorkspaceError::OutputTooLarge { command, repo: repo.to_owned() })
            }
            Ok(captured) => Ok(captured),
            Err(End::TimedOut) => Err(WorkspaceError::TimedOut { command, repo: repo.to_owned(), limit: self.limit }),
            Err(End::Cancelled) => Err(WorkspaceError::Cancelled),
        }
    }

    fn command(
        &self,
        repo: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        overrides: &Overrides,
    ) -> Result<Command, WorkspaceError> {
        let executable = process::find(Path::new("git"), self.env.get("PATH"))?;
        let mut variables = Variables::base(&self.env);
        for &(name, value) in FIXED.iter().chain(env) {
            variables.set(name, value);
        }
        for (name, value) in overrides.variables().into_iter().chain(self.locations(repo)) {
            variables.set(name, value);
        }
        let mut all = vec!["-C".to_owned(), repo.display().to_string()];
        all.extend(args.iter().map(|&arg| arg.to_owned()));
        // Each command has its own run tag: descendants of an ended command are still being killed while the next one runs.
        let (workdir, run) = (PathBuf::from("/"), Some(RunId::new()));
        Ok(Command { executable, args: all, workdir, variables, run, grace: GRACE, pipe_silence: GRACE })
    }

    /// Variables for git's working tree and git folder: settings and files in the tree cannot redirect them.
    fn locations(&self, repo: &Path) -> Vec<(OsString, OsString)> {
        let worktree = self.worktree.as_deref().filter(|worktree| worktree.tree == repo);
        let tree = match worktree {
            Some(worktree) => Some(worktree.tree.as_path()),
            None => repository::top(repo),
        };
        let tree = tree.map(|tree| ("GIT_WORK_TREE".into(), tree.into()));
        let folder = worktree.map(|worktree| ("GIT_DIR".into(), worktree.folder.clone().into()));
        tree.into_iter().chain(folder).collect()
    }
}

/// Whether git failed because of a concurrent git.
fn is_lock_conflict(stderr: &str) -> bool {
    // A conflicting ref does not go away.
    let is_ref_conflict = stderr.contains("; cannot create '");
    let is_locked = stderr.contains(".lock': File exists")
        || stderr.contains("could not lock")
        || stderr.contains("cannot lock")
        || is_worktree_race(stderr);
    !is_ref_conflict && is_locked
}

/// Git reads the records of all worktrees, also of one that is being created; and the removal of the last worktree removes
/// the common folder, in which another git may be creating one.
fn is_worktree_race(stderr: &str) -> bool {
    let is_incomplete = stderr.contains("failed to read ") && stderr.contains("/worktrees/");
    let is_removed = stderr.contains("could not create directory of") && stderr.contains("No such file or directory");
    is_incomplete || is_removed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_conflicts_with_another_git_are_retried_and_permanent_failures_are_not() {
        let transient = [
            "fatal: Unable to create '/r/.git/index.lock': File exists.",
            "error: could not lock config file .git/config: File exists",
            "fatal: cannot lock ref 'refs/agentbay/x': is at a but expected b",
            "fatal: could not create directory of '.git/worktrees/x': No such file or directory",
            "fatal: failed to read .git/worktrees/x/commondir: Success",
        ];
        let permanent = [
            "fatal: cannot lock ref 'refs/agentbay/x': 'refs/agentbay' exists; cannot create 'refs/agentbay/x'",
            "fatal: could not create directory of '.git/worktrees/x': Permission denied",
            "fatal: not a git repository (or any of the parent directories): .git",
        ];
        assert_eq!((transient.map(is_lock_conflict), permanent.map(is_lock_conflict)), ([true; 5], [false; 3]));
    }
}
