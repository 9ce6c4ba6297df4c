//! Waiting for what gives no sign: files and the end of processes. Everything else is waited for by reading. The
//! deadlines are there for a program that is broken; no test is meant to meet one.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long anything may take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Waits until something is so.
pub(crate) fn wait_for(what: &str, so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < DEADLINE, "waited too long for {what}");
        sleep(Duration::from_millis(5));
    }
}

/// Waits until there is a file, and says what is in it.
pub(crate) fn read_once_there(file: &Path) -> String {
    wait_for(&file.display().to_string(), || file.exists());
    fs::read_to_string(file).unwrap()
}

/// Whether the process lives that holds a lock on this file, as those of a hanging stand-in do.
pub(crate) fn is_alive(file: &Path) -> bool {
    match File::open(file).unwrap().try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => panic!("cannot lock {}: {error}", file.display()),
    }
}
