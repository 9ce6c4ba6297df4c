//! The git commands that are used, each a method. Paths and names are never taken for options.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::error::WorkspaceError;
use crate::domain::ExitStatus;
use crate::process::{self, Captured, Command, HostVariables, Variables};

/// How long git's own descendants may hold its streams open.
const GRACE: Duration = Duration::from_secs(5);

/// How often a command is tried again that met the lock of somebody else's git.
const LOCK_TRIES: u32 = 6;

/// How long the first wait for somebody else's lock is. Each next one is longer by as much.
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// Bytes that are kept of git's answer. A longer one has been cut, so nothing is concluded from it.
const KEPT: usize = 1024 * 1024;

/// Settings of the user that must not act in the host's own calls: nothing of the repository is started, nothing asked.
const SETTINGS: [(&str, &str); 5] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("commit.gpgSign", "false"),
];

/// Who makes the commits that save a run's work.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "AgentBay"),
    ("GIT_AUTHOR_EMAIL", "agentbay@localhost"),
    ("GIT_COMMITTER_NAME", "AgentBay"),
    ("GIT_COMMITTER_EMAIL", "agentbay@localhost"),
];

/// Bytes of a file in a repository, or of a list of its files, that are read at the most.
const LARGEST: usize = 64 * 1024 * 1024;

/// What a command is given besides its arguments.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct With<'a> {
    /// Variables.
    pub(super) env: &'a [(&'a str, &'a str)],
    /// What it reads.
    pub(super) input: &'a str,
}

/// The installed git, called without the variables of whoever started the host.
#[derive(Debug, Clone)]
pub struct Git {
    host: HostVariables,
    /// One turn at a time for each repository, by its common git folder: git's own locks make the second one fail.
    turns: Arc<Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>>,
}

impl Git {
    /// git as it is found on the host's PATH.
    pub fn new(host: HostVariables) -> Self {
        Self { host, turns: Arc::default() }
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
        let captured = self.capture(repo, &args, With::default()).await?;
        Ok((captured.status == ExitStatus::Code(0)).then(|| captured.text().trim().to_owned()))
    }

    /// Makes a worktree with a detached HEAD at a commit.
    pub(super) async fn add_worktree(&self, repo: &Path, worktree: &Path, at: &str) -> Result<(), WorkspaceError> {
        let turn = self.turn(repo).await?;
        let _mine = turn.lock().await;
        let path = worktree.display().to_string();
        self.run("worktree add", repo, &["worktree", "add", "--detach", &path, at]).await.map(drop)
    }

    /// Removes a worktree with all that is in it. What must not be lost has been saved before.
    pub(super) async fn remove_worktree(&self, repo: &Path, worktree: &Path) -> Result<(), WorkspaceError> {
        let turn = self.turn(repo).await?;
        let _mine = turn.lock().await;
        let path = worktree.display().to_string();
        self.run("worktree remove", repo, &["worktree", "remove", "--force", &path]).await.map(drop)
    }

    /// The absolute path of git's folder of a working tree.
    pub(super) async fn folder(&self, tree: &Path) -> Result<PathBuf, WorkspaceError> {
        Ok(self.line("rev-parse", tree, &["rev-parse", "--absolute-git-dir"]).await?.into())
    }

    /// The commit that HEAD names.
    pub(super) async fn head(&self, repo: &Path) -> Result<String, WorkspaceError> {
        self.line("rev-parse", repo, &["rev-parse", "--verify", "HEAD"]).await
    }

    /// Makes a ref name a commit, so that it is kept.
    pub(super) async fn keep(&self, repo: &Path, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.run("update-ref", repo, &["update-ref", name, commit]).await.map(drop)
    }

    /// HEAD and everything that differs from it, in the form of `status --porcelain=v2 -z`.
    pub(super) async fn status(&self, repo: &Path) -> Result<String, WorkspaceError> {
        let args = ["status", "--porcelain=v2", "--branch", "--untracked-files=all", "-z"];
        self.whole("status", repo, &args).await
    }

    /// What git prints, unless that is so much that it may have been cut.
    pub(super) async fn whole(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
    ) -> Result<String, WorkspaceError> {
        let printed = self.run(command, repo, args).await?;
        if printed.stdout.len() >= KEPT {
            return Err(WorkspaceError::TooMuch { command, repo: repo.to_owned() });
        }
        Ok(printed.text().into_owned())
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
        self.run_with(command, repo, args, With::default()).await
    }

    /// Runs a command that must succeed, with more than its arguments. It is tried again if somebody else's git is in
    /// the way.
    pub(super) async fn run_with(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
        with: With<'_>,
    ) -> Result<Captured, WorkspaceError> {
        let mut tries = 0;
        loop {
            let captured = self.capture(repo, args, with).await?;
            if captured.status == ExitStatus::Code(0) {
                return Ok(captured);
            }
            tries += 1;
            if tries >= LOCK_TRIES || !met_a_lock(&captured.stderr) {
                let stderr = captured.stderr.trim().to_owned();
                return Err(WorkspaceError::Git { command, repo: repo.to_owned(), stderr });
            }
            tokio::time::sleep(LOCK_WAIT * tries).await;
        }
    }

    /// The turn of the repository that a folder belongs to, the same for all its worktrees.
    pub(super) async fn turn(&self, repo: &Path) -> Result<Arc<tokio::sync::Mutex<()>>, WorkspaceError> {
        let ask = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let common = PathBuf::from(self.line("rev-parse", repo, &ask).await?);
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(turns.entry(common).or_default()))
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
        self.all("diff", repo, &args, &[], most).await
    }

    /// The content of a file by its id, which must be text.
    pub(super) async fn text(&self, repo: &Path, id: &str) -> Result<String, WorkspaceError> {
        let content = self.all("cat-file", repo, &["cat-file", "blob", id], &[], LARGEST).await?;
        String::from_utf8(content).map_err(|_| WorkspaceError::NotText { repo: repo.to_owned(), id: id.to_owned() })
    }

    /// A list of all files, undecodable bytes replaced.
    pub(super) async fn list(
        &self,
        repo: &Path,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Result<String, WorkspaceError> {
        let list = self.all("ls-files", repo, args, env, LARGEST).await?;
        Ok(String::from_utf8_lossy(&list).into_owned())
    }

    /// What git prints, which is too much if it is more than `most` bytes.
    async fn all(
        &self,
        command: &'static str,
        repo: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        most: usize,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let captured = process::capture(self.command(repo, args, env)?, "", most.saturating_add(1)).await?;
        if captured.status != ExitStatus::Code(0) {
            return Err(WorkspaceError::Git { command, repo: repo.to_owned(), stderr: captured.stderr });
        }
        if captured.stdout.len() > most {
            return Err(WorkspaceError::TooMuch { command, repo: repo.to_owned() });
        }
        Ok(captured.stdout)
    }

    async fn capture(&self, repo: &Path, args: &[&str], with: With<'_>) -> Result<Captured, WorkspaceError> {
        Ok(process::capture(self.command(repo, args, with.env)?, with.input.to_owned(), KEPT).await?)
    }

    fn command(&self, repo: &Path, args: &[&str], env: &[(&str, &str)]) -> Result<Command, WorkspaceError> {
        let executable = process::find(Path::new("git"), self.host.get("PATH"))?;
        let mut set = vec![
            ("LC_ALL".to_owned(), "C".to_owned()),
            ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
            ("GIT_CONFIG_COUNT".to_owned(), SETTINGS.len().to_string()),
        ];
        for (at, (key, value)) in SETTINGS.iter().enumerate() {
            set.push((format!("GIT_CONFIG_KEY_{at}"), (*key).to_owned()));
            set.push((format!("GIT_CONFIG_VALUE_{at}"), (*value).to_owned()));
        }
        set.extend(IDENTITY.iter().chain(env).map(|&(name, value)| (name.to_owned(), value.to_owned())));
        let set: Vec<_> = set.into_iter().map(|(name, value)| (name, Some(value))).collect();
        let mut variables = Variables::base(&self.host);
        variables.plan(&set);
        let mut all = vec!["-C".to_owned(), repo.display().to_string()];
        all.extend(args.iter().map(|&arg| arg.to_owned()));
        let workdir = PathBuf::from("/");
        Ok(Command { executable, args: all, workdir, variables, run: None, grace: GRACE, pipe_silence: GRACE })
    }
}

/// Whether git failed because another git holds a lock.
fn met_a_lock(stderr: &str) -> bool {
    stderr.contains(".lock': File exists") || stderr.contains("could not lock") || stderr.contains("cannot lock")
}
