//! The end of a process, waited for without reaping it: its number, which is also that of its group, stays its own until
//! everything that it started has been ended. Otherwise a signal to the group could reach somebody else's.

use std::io;

use agentbay_domain::ExitStatus;
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What shells say of a process whose end nobody saw.
const UNKNOWN: i32 = 127;

/// The end of a child of this process.
#[derive(Debug)]
pub(super) struct Ending {
    child: Pid,
    /// A sign that some child has ended.
    signs: Signal,
}

impl Ending {
    /// The end of a child.
    pub(super) fn of(child: Option<u32>) -> io::Result<Self> {
        // Before the first look: no sign is missed.
        let signs = signal(SignalKind::child())?;
        let child = child.and_then(|child| Pid::from_raw(child.try_into().ok()?));
        Ok(Self { child: child.ok_or(io::ErrorKind::NotFound)?, signs })
    }

    /// Waits for it. May be dropped and called again at any time.
    pub(super) async fn wait(&mut self) -> ExitStatus {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.child), look) {
                Ok(Some(status)) => return exit_status(&status),
                Err(Errno::INTR) => {}
                Ok(None) => {
                    self.signs.recv().await;
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot tell how a process ended");
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
