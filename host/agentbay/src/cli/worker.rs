//! Processes that the program starts of itself: they need neither settings nor plugins.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use agentbay_os::process::{self, HostProcess, ResourceLimits};
use agentbay_runs::compiler;
use clap::Args;

use crate::echo_agent;

/// The work of such a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worker {
    /// The stand-in CLI of the driver `echo`.
    EchoAgent,
    /// The watchdog of a server process.
    Watchdog(HostProcess),
    /// The compiler.
    Compile(CompileArgs),
}

/// The cache and the limits of a compiler.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct CompileArgs {
    /// The folder of the cache.
    cache: PathBuf,
    /// The memory that it may use, in bytes.
    memory: u64,
    /// The CPU time that it may use, in seconds.
    processor: u64,
}

impl Worker {
    /// Does its work on standard input and output.
    ///
    /// # Errors
    /// A stream cannot be used, or the limits of a compiler cannot be set.
    pub fn run(self) -> io::Result<ExitCode> {
        match self {
            Self::EchoAgent => echo_agent::run(io::stdin(), io::stdout()).map(|()| ExitCode::SUCCESS),
            Self::Watchdog(host) => process::run_watchdog(host, io::stdin()).map(|()| ExitCode::SUCCESS),
            Self::Compile(CompileArgs { cache, memory, processor }) => {
                let limits = ResourceLimits { memory, processor: Duration::from_secs(processor) };
                compiler::run(&cache, limits, io::stdin(), io::stdout())
            }
        }
    }
}
