//! Errors of repositories, worktrees and folders.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use agentbay_os::files::FolderError;
use agentbay_os::process::SpawnError;

/// Errors of repositories, worktrees and folders.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The configured repository does not exist.
    #[error("the repository {repo} does not exist: correct `{key}`, or create it", repo = .repo.display())]
    RepositoryMissing {
        /// The repository.
        repo: PathBuf,
        /// The settings key that names it.
        key: String,
    },
    /// The repository has no commit from which a worktree could be created.
    #[error("the repository {0} has no commit yet: make a first commit, or set `worktree = false` for the model")]
    NoCommit(PathBuf),
    /// A worktree contains another repository, so its content cannot be saved as a commit.
    #[error("{0} contains another git repository with changes, which would be lost")]
    Nested(PathBuf),
    /// The agent file exists and cannot be read.
    #[error("cannot read the agent file {path}: {error}")]
    AgentFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A folder that must be private to the user is not, or cannot be created.
    #[error("cannot use the folder {path}: {reason}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Git cannot be started.
    #[error("cannot run git: {0}")]
    Spawn(#[from] SpawnError),
    /// The base of worktrees is not a commit.
    #[error("`worktree.base` of the model is {base:?}, which is not a commit in {repo}: correct it, or fetch it")]
    NoBase {
        /// The repository.
        repo: PathBuf,
        /// The name.
        base: String,
    },
    /// The refs of a run cannot be created, so its work could not be saved.
    #[error(
        "the work of a run could not be saved in {repo}, under refs/agentbay/ and refs/agentbay-base/: {reason}. If another \
         ref conflicts, rename it: `git update-ref refs/NEW REF`, then `git update-ref -d REF`"
    )]
    RefConflict {
        /// The repository.
        repo: PathBuf,
        /// Git's error output.
        reason: String,
    },
    /// The configured folder of a repository is not in the commit that worktrees are created from.
    #[error("the folder {repo} is not in the commit {base}, from which worktrees are created: commit it first")]
    NoFolder {
        /// The folder.
        repo: PathBuf,
        /// The commit.
        base: String,
    },
    /// Git printed more than the limit, so its output is not used.
    #[error("`git {command}` in {repo} printed more than AgentBay reads")]
    OutputTooLarge {
        /// The command without its arguments.
        command: &'static str,
        /// The repository.
        repo: PathBuf,
    },
    /// Git took too long and was ended with all its descendants.
    #[error(
        "`git {command}` in {repo} took longer than {} and was ended: find out what it waits for (a filter, the network, a \
         slow disk), or raise `limits.git_timeout`",
        humantime::format_duration(*.limit)
    )]
    TimedOut {
        /// The command without its arguments.
        command: &'static str,
        /// The repository.
        repo: PathBuf,
        /// Its time limit.
        limit: Duration,
    },
    /// The result is no longer needed, so git was ended or not started.
    #[error("git was ended, since its result is no longer needed")]
    Cancelled,
    /// A file of the repository is not text.
    #[error("the file {id} in {repo} is not UTF-8 text")]
    NotText {
        /// The repository.
        repo: PathBuf,
        /// The object id of its content.
        id: String,
    },
    /// Nothing is committed while a merge or a similar operation is in progress.
    #[error("cannot commit in {repo} while {what} exists: finish or abort the operation in progress")]
    OperationInProgress {
        /// The repository.
        repo: PathBuf,
        /// The operation's file in the git folder.
        what: &'static str,
    },
    /// The log of what agents added cannot be written.
    #[error("cannot write the log {path}, which `policy.log` of the model names: {reason}")]
    Log {
        /// The log.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Git failed.
    #[error("`git {command}` failed in {repo}: {stderr}")]
    Git {
        /// The command without its arguments.
        command: &'static str,
        /// The repository.
        repo: PathBuf,
        /// Git's error output.
        stderr: String,
    },
}

impl From<FolderError> for WorkspaceError {
    fn from(FolderError { path, reason }: FolderError) -> Self {
        Self::Folder { path, reason }
    }
}
