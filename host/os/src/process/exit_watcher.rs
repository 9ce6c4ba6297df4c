//! Waits for the exit of a process without reaping it: its number, which is also that of its group, stays reserved until all
//! its descendants have been ended. Otherwise a signal to the group could reach an unrelated one.

use std::io;

use agentbay_domain::ExitStatus;
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code that shells report for a process whose exit status is unknown.
const UNKNOWN: i32 = 127;

/// Waits for the exit of one child of this process.
#[derive(Debug)]
pub(super) struct ExitWatcher {
    child: Pid,
    notice: Notice,
}

/// What shows that it may have ended.
#[derive(Debug)]
enum Notice {
    /// A handle of this process.
    Handle(handle::Handle),
    /// SIGCHLD: some child has ended.
    Signal(Signal),
}

impl ExitWatcher {
    /// Watches the child with this process number.
    pub(super) fn of(child: Pid) -> io::Result<Self> {
        let notice = match handle::open(child) {
            Some(handle) => Notice::Handle(handle),
            // Before the first check: no signal is missed.
            None => Notice::Signal(signal(SignalKind::child())?),
        };
        Ok(Self { child, notice })
    }

    /// Waits for the exit. Cancel-safe.
    pub(super) async fn wait(&mut self) -> ExitStatus {
        if let Notice::Handle(handle) = &self.notice {
            handle::ended(handle).await;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match (waitid(WaitId::Pid(self.child), options), &mut self.notice) {
                (Ok(Some(status)), _) => return exit_status(&status),
                (Err(Errno::INTR), _) => {}
                (Ok(None), Notice::Signal(signal)) => {
                    signal.recv().await;
                }
                // Its last thread has not ended yet.
                (Ok(None), Notice::Handle(_)) => tokio::task::yield_now().await,
                (Err(error), _) => {
                    tracing::warn!(%error, "cannot determine how a process ended");
                    return ExitStatus::Code(UNKNOWN);
                }
            }
        }
    }
}

fn exit_status(status: &WaitIdStatus) -> ExitStatus {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, Some(signal)) => ExitStatus::Signal(signal),
        (None, None) => ExitStatus::Code(UNKNOWN),
    }
}

/// A handle wakes its own watcher only, where SIGCHLD wakes those of all processes.
#[cfg(target_os = "linux")]
mod handle {
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    pub(super) type Handle = AsyncFd<OwnedFd>;

    #[expect(deprecated, reason = "it is unsound for types whose descriptor changes, and an `OwnedFd` keeps its own")]
    pub(super) fn open(child: Pid) -> Option<Handle> {
        let handle = pidfd_open(child, PidfdFlags::NONBLOCK).ok()?;
        AsyncFd::with_interest(handle, Interest::READABLE).ok()
    }

    /// It stays readable. An error means that the runtime shuts down.
    pub(super) async fn ended(handle: &Handle) {
        drop(handle.readable().await);
    }
}

/// Other systems have no such handle.
#[cfg(not(target_os = "linux"))]
mod handle {
    use std::convert::Infallible;

    use rustix::process::Pid;

    pub(super) type Handle = Infallible;

    pub(super) fn open(_child: Pid) -> Option<Handle> {
        None
    }

    pub(super) async fn ended(handle: &Handle) {
        match *handle {}
    }
}
