//! Errors of starting a process.

use std::path::PathBuf;

use super::obstacle::Obstacle;

/// Errors of starting a process.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No such program on PATH, or no such file.
    #[error("CLI not found: {program}")]
    NotFound {
        /// The name that was searched for.
        program: String,
    },
    /// The working directory does not exist.
    #[error("the directory {0} does not exist")]
    Workdir(PathBuf),
    /// One argument or variable is longer than the operating system accepts.
    #[error("{what} is {length} bytes long, and the operating system accepts at most {max}")]
    TooLong {
        /// The argument or variable.
        what: String,
        /// Its length.
        length: usize,
        /// The maximum length.
        max: usize,
    },
    /// All arguments and variables together are longer than the operating system accepts.
    #[error(
        "the command line and the environment are {length} bytes long, and the operating system accepts at most {max}"
    )]
    TotalTooLong {
        /// Their length.
        length: usize,
        /// The maximum length.
        max: usize,
    },
    /// The operating system refused, or would refuse.
    #[error("{} {obstacle}", .program.display())]
    Refused {
        /// The file to start.
        program: PathBuf,
        /// The reason, and what to do.
        obstacle: Obstacle,
    },
}
