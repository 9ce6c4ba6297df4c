//! What this process may use, said by itself before it begins with something that could take too much.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};

/// What this process may use from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restraint {
    /// Bytes of memory. What is asked for beyond that fails. macOS does not hold a process to it.
    pub memory: u64,
    /// Processor time of all threads together. A process that has used it up is killed.
    pub processor: Duration,
}

/// How much others come first, from -20 to 19.
const NICE: i32 = 10;

/// Restrains this process, for good, and lets others go first: the threads, that is, which are started from here on.
///
/// # Errors
/// The system does not take the limits.
pub fn restrain(restraint: Restraint) -> io::Result<()> {
    // Whole seconds, and never none.
    let seconds = restraint.processor.as_secs().saturating_add(1);
    // Counts what can be written to: address space that is only reserved, as allocators do for each thread, costs nothing.
    hold(Resource::Data, restraint.memory)?;
    hold(Resource::Cpu, seconds)?;
    // A core file would be as large as the process.
    hold(Resource::Core, 0)?;
    if let Err(error) = setpriority_process(None, NICE) {
        tracing::debug!(%error, "this process has the priority of all others");
    }
    Ok(())
}

/// The same limit is the one that cannot be raised again.
fn hold(resource: Resource, most: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}
