//! The processes of this machine, as far as they can be looked at: when they began, and which mark they bear.

use std::fs;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use super::birth::Birth;
use super::mark::{Host, Mark};

/// A process that bears a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) pid: u32,
    birth: Birth,
    pub(super) mark: Mark,
    /// Whether the host that started it is still there, or may be.
    pub(super) host_lives: bool,
}

/// Every process of this user that was started `since` then, bears a mark and is not this one. In a container, processes
/// have other numbers, and marks with those numbers mean nothing here; nor do marks from before the machine was started.
pub(super) fn marked(since: Option<Birth>) -> Vec<Marked> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    let all = ProcessRefreshKind::nothing().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, all);
    // Environments take longest to read, and there may be thousands.
    let young = |pid: &u32| match (since, Birth::of(*pid)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(since), Some(birth)) => birth.is_since(since),
    };
    let pids = system.processes().keys().map(|pid| pid.as_u32()).filter(young);
    let young: Vec<_> = pids.map(sysinfo::Pid::from_u32).collect();
    let environment = all.with_environ(UpdateKind::Always).with_user(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&young), false, environment);
    let (this, user) = (Host::this(), geteuid().as_raw());
    let ours = |process: &&sysinfo::Process| process.effective_user_id().is_some_and(|of| **of == user);
    let of_process = |process: &sysinfo::Process| {
        let pid = process.pid().as_u32();
        let mark = Mark::among(process.environ().iter().map(|variable| variable.as_os_str()))?;
        Some(Marked { pid, birth: Birth::of(pid)?, mark, host_lives: lives(mark.host) })
    };
    let young = young.into_iter().filter_map(|pid| system.process(pid));
    let marked = young.filter(ours).filter_map(of_process);
    let meant = |marked: &Marked| {
        marked.pid != this.pid()
            && marked.mark.host.birth().is_comparable(this.birth())
            && is_numbered_as_we_are(marked.pid)
    };
    marked.filter(meant).collect()
}

/// A host that has ended is gone, also while nobody has reaped it.
fn lives(host: Host) -> bool {
    Birth::of(host.pid()).is_some_and(|birth| birth == host.birth() || host.birth() == Birth::UNKNOWN)
}

/// Whether the numbers and the births of processes mean the same to a process as to this one. Only Linux has it otherwise.
fn is_numbered_as_we_are(pid: u32) -> bool {
    let namespace = |process: &str, kind: &str| fs::read_link(format!("/proc/{process}/ns/{kind}")).ok();
    let same = |kind| namespace("self", kind).is_none_or(|own| namespace(&pid.to_string(), kind) == Some(own));
    same("pid") && same("time")
}

/// Sends a signal to a process. One that is gone needs none, and one that has its number by now gets none.
pub(super) fn signal(process: &Marked, signal: Signal) {
    let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) else { return };
    let handle = handle::open(pid);
    if Birth::of(process.pid) == Some(process.birth) {
        let _gone = match handle {
            Some(handle) => handle::signal(&handle, signal),
            None => kill_process(pid, signal),
        };
    }
}

/// What stands for a process and for none that gets its number later.
#[cfg(target_os = "linux")]
mod handle {
    use std::os::fd::OwnedFd;

    use rustix::io::Result;
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    pub(super) fn open(pid: Pid) -> Option<OwnedFd> {
        pidfd_open(pid, PidfdFlags::empty()).ok()
    }

    pub(super) fn signal(handle: &OwnedFd, signal: Signal) -> Result<()> {
        pidfd_send_signal(handle, signal)
    }
}

/// Other systems have no such thing.
#[cfg(not(target_os = "linux"))]
mod handle {
    use std::convert::Infallible;

    use rustix::io::Result;
    use rustix::process::{Pid, Signal};

    pub(super) fn open(_pid: Pid) -> Option<Infallible> {
        None
    }

    pub(super) fn signal(handle: &Infallible, _signal: Signal) -> Result<()> {
        match *handle {}
    }
}
