//! Time as plugins are held to it: the ticks of the engine, and what a thread has used of a processor.

use std::io;
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How often running plugins are looked at.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// The processor time of this thread.
pub(super) fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// An OS thread rather than a task: a busy runtime would starve a task just when it is needed. It ends with the engine.
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
