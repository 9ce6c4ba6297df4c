//! What can go wrong with a repository, a worktree or a folder.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use agentbay_os::files::FolderError;
use agentbay_os::process::SpawnError;

/// What can go wrong with a repository, a worktree or a folder.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The configured repository is not there.
    #[error("the repository {repo} does not exist: correct `{key}`, or create it", repo = .repo.display())]
    RepositoryMissing {
        /// The repository.
        repo: PathBuf,
        /// The key that names it in the settings.
        key: String,
    },
    /// There is nothing yet that a worktree could be made from.
    #[error("the repository {0} has no commit yet: make a first commit, or set `worktree = false` for the model")]
    NoCommit(PathBuf),
    /// A worktree holds another repository, so its content cannot be saved as a commit.
    #[error("{0} holds another git repository with work of its own, which would be lost")]
    Nested(PathBuf),
    /// The agent file is there and cannot be read.
    #[error("cannot read the agent file {path}: {error}")]
    AgentFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A folder that must be private to the user is not, or cannot be made.
    #[error("cannot use the folder {path}: {reason}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// git cannot be started.
    #[error("cannot run git: {0}")]
    Spawn(#[from] SpawnError),
    /// What worktrees are to be made from is no commit.
    #[error("`worktree.base` of the model is {base:?}, which names no commit in {repo}: correct it, or fetch it")]
    NoBase {
        /// The repository.
        repo: PathBuf,
        /// The name.
        base: String,
    },
    /// The refs of a run cannot be made, so its work could not be saved.
    #[error(
        "the work of a run could not be saved in {repo}, under refs/agentbay/ and refs/agentbay-base/: {reason}. If another \
         ref is in the way, rename it: `git update-ref refs/NEW REF`, then `git update-ref -d REF`"
    )]
    NoRef {
        /// The repository.
        repo: PathBuf,
        /// What git said.
        reason: String,
    },
    /// The configured folder of a repository is not in the commit that worktrees are made from.
    #[error("the folder {repo} is not in the commit {base}, from which worktrees are made: commit it first")]
    NoFolder {
        /// The folder.
        repo: PathBuf,
        /// The commit.
        base: String,
    },
    /// git printed more than is looked at, so nothing is concluded from it.
    #[error("`git {command}` has too much to say in {repo}")]
    TooMuch {
        /// The command without its arguments.
        command: &'static str,
        /// The repository.
        repo: PathBuf,
    },
    /// git took too long, and was ended with all that it had started.
    #[error(
        "`git {command}` in {repo} took longer than {} and was ended: look for what it waits for (a filter, the network, a \
         slow disk), or raise `limits.git`",
        humantime::format_duration(*.limit)
    )]
    Late {
        /// The command without its arguments.
        command: &'static str,
        /// The repository.
        repo: PathBuf,
        /// How long it may take.
        limit: Duration,
    },
    /// Nobody wants the result any more, so git was ended or not started.
    #[error("nobody waits for the result of git any more")]
    Unwanted,
    /// A file of the repository is to be read and is no text.
    #[error("the file {id} in {repo} is no UTF-8 text")]
    NotText {
        /// The repository.
        repo: PathBuf,
        /// git's name of its content.
        id: String,
    },
    /// Nobody commits while a merge or the like is under way.
    #[error("nothing is committed in {repo} while {what} is there: finish or abort what it belongs to")]
    UnderWay {
        /// The repository.
        repo: PathBuf,
        /// What git keeps of it.
        what: &'static str,
    },
    /// The log of what agents added cannot be written.
    #[error("cannot write the log {path}, which `policy.log` of the model names: {reason}")]
    Log {
        /// The log.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// git failed.
    #[error("`git {command}` failed in {repo}: {stderr}")]
    Git {
        /// The command without its arguments.
        command: &'static str,
        /// The repository.
        repo: PathBuf,
        /// What git said.
        stderr: String,
    },
}

impl From<FolderError> for WorkspaceError {
    fn from(FolderError { path, reason }: FolderError) -> Self {
        Self::Folder { path, reason }
    }
}
