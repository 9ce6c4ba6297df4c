//! How git is started: with which variables, for how long, and what is tried again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::{ExitStatus, RunId};
use agentbay_os::process::{self, Captured, Command, Variables};
use bytes::Bytes;
use tokio::time::sleep;

use super::error::WorkspaceError;
use super::git::{Git, LARGEST};
use super::overrides::Overrides;
use super::repository;

/// How long git may take to end when it is asked to, and how long its own descendants may hold its streams open.
const GRACE: Duration = Duration::from_millis(500);

/// How often a command is tried again that met the lock of somebody else's git.
const LOCK_TRIES: u32 = 6;

/// How long the first wait for somebody else's lock is. Each next one is longer by as much.
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// Who makes the commits that save a run's work; and no locks where they are not needed, since others wait for them.
const FIXED: [(&str, &str); 7] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_AUTHOR_NAME", "AgentBay"),
    ("GIT_AUTHOR_EMAIL", "agentbay@localhost"),
    ("GIT_COMMITTER_NAME", "AgentBay"),
    ("GIT_COMMITTER_EMAIL", "agentbay@localhost"),
];

/// What a command is given besides its arguments.
#[derive(Debug, Clone)]
pub(super) struct With<'a> {
    /// Variables.
    pub(super) env: &'a [(&'a str, &'a str)],
    /// What it reads.
    pub(super) input: Bytes,
    /// Bytes that it may print.
    pub(super) most: usize,
}

impl Default for With<'_> {
    fn default() -> Self {
        Self { env: &[], input: Bytes::new(), most: LARGEST }
    }
}

/// Why a command was ended.
#[derive(Debug, Clone, Copy)]
enum End {
    Late,
    Unwanted,
}

impl Git {
    /// Runs a command that must succeed, with more than its arguments. It is tried again if somebody else's git is in
    /// the way.
    pub(super) async fn run_with(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
        with: &With<'_>,
    ) -> Result<Captured, WorkspaceError> {
        let mut tries = 0;
        loop {
            let captured = self.capture(command, repo, args, with).await?;
            if captured.status == ExitStatus::Code(0) {
                return Ok(captured);
            }
            tries += 1;
            if tries >= LOCK_TRIES || !met_another_git(&captured.stderr) {
                let stderr = captured.stderr.trim().to_owned();
                return Err(WorkspaceError::Git { command, repo: repo.to_owned(), stderr });
            }
            sleep(LOCK_WAIT * tries).await;
        }
    }

    /// Runs a command to its end, however that is.
    pub(super) async fn capture(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
        with: &With<'_>,
    ) -> Result<Captured, WorkspaceError> {
        let overrides = self.overrides(repo).await?;
        self.capture_with(command, repo, args, with, &overrides).await
    }

    /// What goes over the settings of a repository. They are read once: a run has another `Git` after its CLI than before.
    async fn overrides(&self, repo: &Path) -> Result<Arc<Overrides>, WorkspaceError> {
        let mut known = self.overrides.lock().await;
        if let Some(known) = known.get(repo) {
            return Ok(Arc::clone(known));
        }
        let args = ["config", "--list", "--show-scope", "-z"];
        let listed = self.capture_with("config", repo, &args, &With::default(), &Overrides::default()).await?;
        if listed.status != ExitStatus::Code(0) {
            let stderr = listed.stderr.trim().to_owned();
            return Err(WorkspaceError::Git { command: "config", repo: repo.to_owned(), stderr });
        }
        let overrides = Arc::new(Overrides::over(&listed.stdout));
        known.insert(repo.to_owned(), Arc::clone(&overrides));
        Ok(overrides)
    }

    async fn capture_with(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
        with: &With<'_>,
        overrides: &Overrides,
    ) -> Result<Captured, WorkspaceError> {
        if self.unwanted.is_cancelled() {
            return Err(WorkspaceError::Unwanted);
        }
        let end = async {
            tokio::select! {
                () = sleep(self.limit) => End::Late,
                () = self.unwanted.cancelled() => End::Unwanted,
            }
        };
        let most = with.most.saturating_add(1);
        let started = self.command(repo, args, with.env, overrides)?;
        match process::capture_until(started, with.input.clone(), most, end).await? {
            // What may have been cut is no answer.
            Ok(captured) if captured.stdout.len() > with.most => {
                Err(WorkspaceError::TooMuch { command, repo: repo.to_owned() })
            }
            Ok(captured) => Ok(captured),
            Err(End::Late) => Err(WorkspaceError::Late { command, repo: repo.to_owned(), limit: self.limit }),
            Err(End::Unwanted) => Err(WorkspaceError::Unwanted),
        }
    }

    fn command(
        &self,
        repo: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        overrides: &Overrides,
    ) -> Result<Command, WorkspaceError> {
        let executable = process::find(Path::new("git"), self.host.get("PATH"))?;
        let mut variables = Variables::base(&self.host);
        for &(name, value) in FIXED.iter().chain(env) {
            variables.set(name, value);
        }
        for (name, value) in overrides.variables().into_iter().chain(self.place(repo)) {
            variables.set(name, value);
        }
        let mut all = vec!["-C".to_owned(), repo.display().to_string()];
        all.extend(args.iter().map(|&arg| arg.to_owned()));
        // A mark of its own: what is left of a command that was ended is still looked for while the next one runs.
        let (workdir, run) = (PathBuf::from("/"), Some(RunId::new()));
        Ok(Command { executable, args: all, workdir, variables, run, grace: GRACE, pipe_silence: GRACE })
    }

    /// Where git finds a working tree and its own folder: never where a setting or a file in the tree says.
    fn place(&self, repo: &Path) -> Vec<(OsString, OsString)> {
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

/// Whether git failed because of what another git was doing.
fn met_another_git(stderr: &str) -> bool {
    // A ref that is in the way stays there.
    let is_in_the_way = stderr.contains("; cannot create '");
    let is_locked = stderr.contains(".lock': File exists")
        || stderr.contains("could not lock")
        || stderr.contains("cannot lock")
        || met_a_worktree_in_the_making(stderr);
    !is_in_the_way && is_locked
}

/// Git reads the records of all worktrees, also of one that is being made; and whoever removes the last one removes the
/// folder of all, in which another git was about to make one.
fn met_a_worktree_in_the_making(stderr: &str) -> bool {
    let is_half_made = stderr.contains("failed to read ") && stderr.contains("/worktrees/");
    let has_gone = stderr.contains("could not create directory of") && stderr.contains("No such file or directory");
    is_half_made || has_gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_git_was_doing_is_tried_again_and_what_stays_in_the_way_is_not() {
        let passing = [
            "fatal: Unable to create '/r/.git/index.lock': File exists.",
            "error: could not lock config file .git/config: File exists",
            "fatal: cannot lock ref 'refs/agentbay/x': is at a but expected b",
            "fatal: could not create directory of '.git/worktrees/x': No such file or directory",
            "fatal: failed to read .git/worktrees/x/commondir: Success",
        ];
        let staying = [
            "fatal: cannot lock ref 'refs/agentbay/x': 'refs/agentbay' exists; cannot create 'refs/agentbay/x'",
            "fatal: could not create directory of '.git/worktrees/x': Permission denied",
            "fatal: not a git repository (or any of the parent directories): .git",
        ];
        assert_eq!((passing.map(met_another_git), staying.map(met_another_git)), ([true; 5], [false; 3]));
    }
}
