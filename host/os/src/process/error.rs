//! Why a process was not started.

use std::path::PathBuf;

use super::obstacle::Obstacle;

/// Why a process was not started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No such program on PATH, or no such file.
    #[error("CLI not found: {program}")]
    NotFound {
        /// The name that was looked for.
        program: String,
    },
    /// The directory to run in does not exist.
    #[error("the directory {0} does not exist")]
    Workdir(PathBuf),
    /// One argument or variable is longer than a program can be given.
    #[error("{what} is {length} bytes long, and no program can be started with more than {most}")]
    TooLong {
        /// What it is.
        what: String,
        /// Its length.
        length: usize,
        /// The most.
        most: usize,
    },
    /// All arguments and variables together are longer than a program can be given.
    #[error("the command line and the environment are {length} bytes long, more than {most}")]
    TooMuch {
        /// Their length.
        length: usize,
        /// The most.
        most: usize,
    },
    /// The operating system refused, or would.
    #[error("{} {obstacle}", .program.display())]
    Refused {
        /// The file that was to be started.
        program: PathBuf,
        /// Why not, and what to do.
        obstacle: Obstacle,
    },
}
