//! Looking and waiting for what gives no sign: files and processes. Everything else is waited for by reading. The
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

/// The command lines of the processes that bear the mark of this program's runs.
pub(crate) fn marked_by(pid: u32) -> impl Iterator<Item = String> {
    let mark = format!("/{pid}/");
    let is_marked = move |environment: &[u8]| {
        let variables = environment.split(|byte| *byte == 0).filter_map(|variable| std::str::from_utf8(variable).ok());
        variables.filter_map(|variable| variable.strip_prefix("AGENTBAY_RUN=")).any(|value| value.contains(&mark))
    };
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let marked = processes.filter(move |process| is_marked(&fs::read(process.join("environ")).unwrap_or_default()));
    marked.map(|process| fs::read_to_string(process.join("cmdline")).unwrap_or_default().replace('\0', " "))
}
