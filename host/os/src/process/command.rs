//! What a process is started with.

use std::path::PathBuf;
use std::time::Duration;

use agentbay_domain::RunId;

use super::environment::Variables;
use super::program::Executable;

/// Everything a process is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The file to start.
    pub executable: Executable,
    /// Its arguments.
    pub args: Vec<String>,
    /// The directory it runs in.
    pub workdir: PathBuf,
    /// Its whole environment.
    pub variables: Variables,
    /// The run that it is started for, if it is for one: all it starts bears the run's mark, and ends with it.
    pub run: Option<RunId>,
    /// How long it may take to end after it was asked to, or after nobody listens to it any more.
    pub grace: Duration,
    /// How long its streams are listened to after its end while nothing comes: a descendant may hold them open. At the
    /// longest, that is the grace time.
    pub pipe_silence: Duration,
}
