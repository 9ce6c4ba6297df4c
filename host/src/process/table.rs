//! The processes of this machine, as far as they can be looked at: when they were started, and which mark they bear.

use std::fs;

use rustix::process::{Pid, Signal, geteuid, kill_process};
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

/// Every process of this user that was started since then (in seconds since 1970), bears a mark and is not this one. In
/// a container, processes have other numbers, and marks with those numbers mean nothing here.
pub(super) fn marked(since: u64) -> Vec<Marked> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    let all = ProcessRefreshKind::nothing().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, all);
    // To look at an environment takes longest, and there may be thousands.
    let young = system.processes().values().filter(|process| process.start_time() >= since);
    let young: Vec<_> = young.map(sysinfo::Process::pid).collect();
    let environment = all.with_environ(UpdateKind::Always).with_user(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&young), false, environment);
    let lives = |mark: &Mark| {
        let host = system.process(sysinfo::Pid::from_u32(mark.host.pid()));
        // A host that has ended and of whose end nobody has heard yet is gone.
        let host = host.filter(|host| host.status() != ProcessStatus::Zombie);
        host.is_some_and(|host| mark.host.is(host.pid().as_u32(), host.start_time()))
    };
    let (this, user) = (std::process::id(), geteuid().as_raw());
    let ours = |process: &&sysinfo::Process| process.effective_user_id().is_some_and(|of| **of == user);
    let of_process = |process: &sysinfo::Process| {
        let mark = Mark::among(process.environ().iter().map(|variable| variable.as_os_str()))?;
        Some(Marked { pid: process.pid().as_u32(), mark, host_lives: lives(&mark) })
    };
    let young = young.into_iter().filter_map(|pid| system.process(pid));
    let marked = young.filter(ours).filter_map(of_process);
    marked.filter(|marked| marked.pid != this && is_numbered_as_we_are(marked.pid)).collect()
}

/// Whether the numbers of processes mean the same to a process as to this one. Only Linux has it otherwise.
fn is_numbered_as_we_are(pid: u32) -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid")).ok();
    namespace("self").is_none_or(|own| namespace(&pid.to_string()).is_some_and(|other| other == own))
}

/// Sends a signal to a process. One that is gone needs none.
pub(super) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _gone = kill_process(pid, signal);
    }
}
