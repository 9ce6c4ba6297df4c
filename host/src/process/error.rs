//! Why a process was not started.

use std::io;
use std::path::PathBuf;

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
    /// The operating system refused.
    #[error("cannot start {program}: {error}")]
    Refused {
        /// The file that was to be started.
        program: PathBuf,
        /// Why not.
        error: io::Error,
    },
}
