//! Parameters of a process to start.

use std::path::PathBuf;
use std::time::Duration;

use agentbay_domain::RunId;

use super::environment::Variables;
use super::program::Executable;

/// All parameters of a process to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The file to start.
    pub executable: Executable,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory.
    pub workdir: PathBuf,
    /// Its complete environment.
    pub variables: Variables,
    /// The run that it is started for, if any: it and its descendants carry the run's tag and end with the run.
    pub run: Option<RunId>,
    /// How long it may take to end after it was asked to, or after its output is no longer read.
    pub grace: Duration,
    /// How long its output is still read after its exit while nothing arrives: a descendant may hold the pipes open. At most
    /// the grace time.
    pub pipe_silence: Duration,
}
