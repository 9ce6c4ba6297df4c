//! What this process may use, said by itself before it begins with something that could take too much.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};

/// What this process may use from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restraint {
    /// Bytes of memory. What is asked for beyond that fails. macOS does not hold a process to it.
    pub memory: u64,
    /// Processor time of all threads together, in whole seconds and one more. A process that has used it up gets SIGXCPU,
    /// and SIGKILL a second later.
    pub processor: Duration,
}

/// How much others come first, from -20 to 19.
const NICE: i32 = 10;

/// Restrains this process, for good, and lets others go first: the threads, that is, which are started from here on.
///
/// # Errors
/// The system does not take the limits.
pub fn restrain(restraint: Restraint) -> io::Result<()> {
    let seconds = restraint.processor.as_secs().saturating_add(1);
    // Counts what can be written to: address space that is only reserved, as allocators do for each thread, costs nothing.
    hold(Resource::Data, restraint.memory, restraint.memory)?;
    hold(Resource::Cpu, seconds, seconds.saturating_add(1))?;
    // A core file would be as large as the process.
    hold(Resource::Core, 0, 0)?;
    if let Err(error) = setpriority_process(None, NICE) {
        tracing::debug!(%error, "this process has the priority of all others");
    }
    Ok(())
}

/// Sets a limit, and the one that it cannot be raised beyond again.
fn hold(resource: Resource, limit: u64, most: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(most) })?)
}
