//! Looking and waiting for what gives no sign: files and processes. Everything else is waited for by reading. The
//! deadlines are there for a program that is broken; no test is meant to meet one.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Pid;

/// How long anything may take, on a machine that has much else to do.
pub(crate) const DEADLINE: Duration = Duration::from_secs(300);

/// Tries something with a limit of time before which something else has to happen, and with longer ones until it did.
pub(crate) fn with_time_enough<T>(try_with: impl Fn(&str) -> Option<T>) -> T {
    let tried = ["200ms", "2s", "20s", "60s"].into_iter().find_map(try_with);
    tried.expect("it does not happen in a minute either")
}

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
    processes_marked_by(pid).map(|(_, command)| command)
}

/// The same with the number of each process.
pub(crate) fn processes_marked_by(pid: u32) -> impl Iterator<Item = (Pid, String)> {
    let mark = format!("/{pid}/");
    let is_marked = move |environment: &[u8]| {
        let variables = environment.split(|byte| *byte == 0).filter_map(|variable| std::str::from_utf8(variable).ok());
        variables.filter_map(|variable| variable.strip_prefix("AGENTBAY_RUN=")).any(|value| value.contains(&mark))
    };
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let marked = processes.filter(move |process| is_marked(&fs::read(process.join("environ")).unwrap_or_default()));
    marked.filter_map(|process| {
        let command = fs::read_to_string(process.join("cmdline")).unwrap_or_default().replace('\0', " ");
        Some((Pid::from_raw(process.file_name()?.to_str()?.parse().ok()?)?, command))
    })
}

/// Whether all threads of a process and of what it has started have nothing to do: each waits for something else than a
/// processor.
pub(crate) fn is_asleep(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    tasks.filter_map(|task| Some(task.ok()?.path())).all(|task| {
        let stat = fs::read_to_string(task.join("stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next());
        let children = fs::read_to_string(task.join("children")).unwrap_or_default();
        // A thread that has ended meanwhile has no state.
        matches!(state, Some('S') | None) && children.split_whitespace().all(|child| child.parse().is_ok_and(is_asleep))
    })
}
