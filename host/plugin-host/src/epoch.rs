//! The clocks for limits of plugins: the ticks of the engine, and the processor time of a thread.

use std::io;
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The interval at which running plugins are checked.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// The processor time of this thread.
pub(super) fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Starts the ticker. It is an OS thread rather than a task, since a busy runtime would starve a task when it is needed. It
/// ends with the engine.
pub(super) fn start_ticker(engine: &wasmtime::Engine) -> io::Result<()> {
    let engine = engine.weak();
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("plugin-ticker".to_owned()).spawn(tick).map(drop)
}
