//! The processes of this machine, as far as they can be looked at: when they were started, and which mark they bear.

use rustix::process::{Pid, Signal, kill_process};
use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use super::mark::Mark;

/// A process that bears a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) pid: u32,
    pub(super) mark: Mark,
    /// Whether the host that started it is still there.
    pub(super) host_lives: bool,
}

/// When a process was started, in seconds since 1970.
pub(super) fn started(pid: u32) -> Option<u64> {
    let pid = sysinfo::Pid::from_u32(pid);
    let mut system = System::new().ok()?;
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, ProcessRefreshKind::nothing());
    system.process(pid).map(sysinfo::Process::start_time)
}

/// Every process that bears a mark and is not this one. Those of other users show nothing of themselves.
pub(super) fn marked() -> Vec<Marked> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    let environment = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always).without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, environment);
    let lives = |mark: &Mark| {
        let host = system.process(sysinfo::Pid::from_u32(mark.host.pid()));
        // A host that has ended and of whose end nobody has heard yet is gone.
        let host = host.filter(|host| host.status() != ProcessStatus::Zombie);
        host.is_some_and(|host| mark.host.is(host.pid().as_u32(), host.start_time()))
    };
    let this = std::process::id();
    let of_process = |process: &sysinfo::Process| {
        let mark = Mark::among(process.environ().iter().map(|variable| variable.as_os_str()))?;
        Some(Marked { pid: process.pid().as_u32(), mark, host_lives: lives(&mark) })
    };
    system.processes().values().filter_map(of_process).filter(|marked| marked.pid != this).collect()
}

/// Sends a signal to a process. One that is gone needs none.
pub(super) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _gone = kill_process(pid, signal);
    }
}
