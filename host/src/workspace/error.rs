//! What can go wrong with a repository, a worktree or a folder.

use std::io;
use std::path::PathBuf;

use crate::process::SpawnError;

/// What can go wrong with a repository, a worktree or a folder.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The configured repository is not there.
    #[error("the repository {0} does not exist: correct `repo` of the model, or create it")]
    RepositoryMissing(PathBuf),
    /// There is nothing yet that a worktree could be made from.
    #[error("the repository {0} has no commit yet: make a first commit, or set `worktree = false` for the model")]
    NoCommit(PathBuf),
    /// A worktree holds another repository, so its content cannot be saved as a commit.
    #[error("{0} may hold another git repository with work of its own, or too many changes to be sure")]
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
    /// git printed more than is looked at, so nothing is concluded from it.
    #[error("`git {command}` has too much to say in {repo}")]
    TooMuch {
        /// The command without its arguments.
        command: &'static str,
        /// The repository.
        repo: PathBuf,
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
