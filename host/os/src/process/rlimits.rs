//! Resource limits that this process sets for itself before work that could use too much.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};

/// Resource limits of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Bytes of memory. Allocations beyond that fail. macOS does not enforce it.
    pub memory: u64,
    /// Processor time of all threads together, rounded up to the next second. A process that has used it up receives SIGXCPU,
    /// and SIGKILL a second later.
    pub processor: Duration,
}

/// Nice value, from -20 (highest priority) to 19.
const NICE: i32 = 10;

/// Limits this process permanently and lowers its priority, for the threads that are started from here on.
///
/// # Errors
/// The system rejects the limits.
pub fn limit_resources(restraint: ResourceLimits) -> io::Result<()> {
    let seconds = restraint.processor.as_secs().saturating_add(1);
    // Counts writable memory: address space that is only reserved, as allocators do for each thread, is free.
    hold(Resource::Data, restraint.memory, restraint.memory)?;
    hold(Resource::Cpu, seconds, seconds.saturating_add(1))?;
    // A core file would be as large as the process.
    hold(Resource::Core, 0, 0)?;
    if let Err(error) = setpriority_process(None, NICE) {
        tracing::debug!(%error, "cannot lower the priority of this process");
    }
    Ok(())
}

/// Sets the soft and the hard limit.
fn hold(resource: Resource, limit: u64, most: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(most) })?)
}
