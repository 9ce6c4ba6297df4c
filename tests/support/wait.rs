//! Polling of files and processes, which cannot be waited for by reading. The deadlines are for a broken program; no test
//! reaches one.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Pid;

/// The maximum time of any step, on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(300);

/// Repeats a test with longer and longer time limits, until the event that must occur before the limit did.
pub(crate) fn with_time_enough<T>(try_with: impl Fn(&str) -> Option<T>) -> T {
    let tried = ["200ms", "2s", "20s", "60s"].into_iter().find_map(try_with);
    tried.expect("it does not occur within a minute either")
}

/// Waits until a condition holds.
pub(crate) fn wait_for(what: &str, so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < DEADLINE, "waited too long for {what}");
        sleep(Duration::from_millis(5));
    }
}

/// Waits for a file, and returns its content.
pub(crate) fn read_once_there(file: &Path) -> String {
    wait_for(&file.display().to_string(), || file.exists());
    fs::read_to_string(file).unwrap()
}

/// Returns whether the process that locks this file is alive; each process of a hanging stand-in locks one.
pub(crate) fn is_alive(file: &Path) -> bool {
    match File::open(file).unwrap().try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => panic!("cannot lock {}: {error}", file.display()),
    }
}

/// The command lines of the processes with the run tag of this program.
pub(crate) fn marked_by(pid: u32) -> impl Iterator<Item = String> {
    processes_marked_by(pid).map(|(_, command)| command)
}

/// The same with process ids.
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

/// Returns whether all threads of a process and of its descendants are idle: none of them runs or waits for a processor.
pub(crate) fn is_asleep(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    tasks.filter_map(|task| Some(task.ok()?.path())).all(|task| {
        let stat = fs::read_to_string(task.join("stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next());
        let children = fs::read_to_string(task.join("children")).unwrap_or_default();
        // A thread that has ended in the meantime has no state.
        matches!(state, Some('S') | None) && children.split_whitespace().all(|child| child.parse().is_ok_and(is_asleep))
    })
}
