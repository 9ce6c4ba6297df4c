//! The processes of this machine, with start times and run tags, as far as they can be read.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use super::run_tag::{HostProcess, RunTag};
use super::start_time::StartTime;

/// A process with a run tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaggedProcess {
    pub(super) pid: u32,
    start_time: StartTime,
    pub(super) tag: RunTag,
    /// Whether the host that started it is running, or may be.
    pub(super) host_is_alive: bool,
}

/// The tag of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tagged {
    /// It was started for a run.
    Run(RunTag),
    /// It has no tag, or is of another user.
    Nothing,
    /// It is starting a program, and shows no environment before that is done.
    Unclear,
}

/// The tag of a process, from proc_pid_environ(5). For systems where this process adopts.
pub(super) fn tag(process: Pid) -> Tagged {
    // A process that starts a program between two reads has shown the arguments of the one before.
    const READS: usize = 3;
    let shown = |what: &str| fs::read(format!("/proc/{process}/{what}"));
    for _read in 0..READS {
        let Ok(environ) = shown("environ") else { return Tagged::Nothing };
        if !environ.is_empty() {
            let tag = RunTag::find(environ.split(|byte| *byte == 0).map(OsStr::from_bytes));
            return tag.map_or(Tagged::Nothing, Tagged::Run);
        }
        if shown("cmdline").is_ok_and(|arguments| arguments.is_empty()) {
            return Tagged::Unclear;
        }
    }
    Tagged::Nothing
}

/// Every tagged process of this user that was started at `since` or later, except this one. In a container, processes have
/// other numbers, and tags with those numbers mean nothing here; nor do tags from before the boot.
pub(super) fn tagged(since: Option<StartTime>) -> Vec<TaggedProcess> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    let all = ProcessRefreshKind::nothing().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, all);
    // Reading environments takes the most time, and there may be thousands.
    let young = |pid: &u32| match (since, StartTime::of(*pid)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(since), Some(start_time)) => start_time.is_since(since),
    };
    let pids = system.processes().keys().map(|pid| pid.as_u32()).filter(young);
    let young: Vec<_> = pids.map(sysinfo::Pid::from_u32).collect();
    let environment = all.with_environ(UpdateKind::Always).with_user(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&young), false, environment);
    let (this, user) = (HostProcess::this(), geteuid().as_raw());
    let ours = |process: &&sysinfo::Process| process.effective_user_id().is_some_and(|of| **of == user);
    let of_process = |process: &sysinfo::Process| {
        let pid = process.pid().as_u32();
        let tag = RunTag::find(process.environ().iter().map(|variable| variable.as_os_str()))?;
        Some(TaggedProcess { pid, start_time: StartTime::of(pid)?, tag, host_is_alive: lives(tag.host) })
    };
    let young = young.into_iter().filter_map(|pid| system.process(pid));
    let tagged = young.filter(ours).filter_map(of_process);
    let is_comparable = |process: &TaggedProcess| {
        process.pid != this.pid()
            && process.tag.host.start_time().is_comparable(this.start_time())
            && is_numbered_as_we_are(process.pid)
    };
    tagged.filter(is_comparable).collect()
}

/// Whether a host is running. One that has ended and is not reaped yet is not.
fn lives(host: HostProcess) -> bool {
    StartTime::of(host.pid())
        .is_some_and(|start_time| start_time == host.start_time() || host.start_time() == StartTime::UNKNOWN)
}

/// Whether process numbers and start times mean the same in the namespaces of a process as here. They can differ on Linux only.
fn is_numbered_as_we_are(pid: u32) -> bool {
    let namespace = |process: &str, kind: &str| fs::read_link(format!("/proc/{process}/ns/{kind}")).ok();
    let same = |kind| namespace("self", kind).is_none_or(|own| namespace(&pid.to_string(), kind) == Some(own));
    same("pid") && same("time")
}

/// Sends a signal to a process, unless it has ended: another process with its number does not receive it.
pub(super) fn signal(process: &TaggedProcess, signal: Signal) {
    let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) else { return };
    let handle = handle::open(pid);
    if StartTime::of(process.pid) == Some(process.start_time) {
        let _gone = match handle {
            Some(handle) => handle::signal(&handle, signal),
            None => kill_process(pid, signal),
        };
    }
}

/// A handle on a process that does not refer to a later process with the same number.
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

/// Other systems have no such handle.
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
