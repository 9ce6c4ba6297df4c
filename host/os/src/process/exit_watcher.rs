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
    /// SIGCHLD: some child has ended.
    signs: Signal,
}

impl ExitWatcher {
    /// Watches the child with this process number.
    pub(super) fn of(child: Option<u32>) -> io::Result<Self> {
        // Before the first check: no signal is missed.
        let signs = signal(SignalKind::child())?;
        let child = child.and_then(|child| Pid::from_raw(child.try_into().ok()?));
        Ok(Self { child: child.ok_or(io::ErrorKind::NotFound)?, signs })
    }

    /// Waits for the exit. Cancel-safe.
    pub(super) async fn wait(&mut self) -> ExitStatus {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.child), options) {
                Ok(Some(status)) => return exit_status(&status),
                Err(Errno::INTR) => {}
                Ok(None) => {
                    self.signs.recv().await;
                }
                Err(error) => {
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
