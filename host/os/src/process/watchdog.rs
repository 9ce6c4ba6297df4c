//! A small process beside the host that outlives it: when the host has ended for any reason, the watchdog ends all
//! processes that the host had started.
//!
//! It is the program itself with another task. It detects the end of the host by the end of its standard input, since only
//! the host holds the other end.

use std::io::{self, Read};
use std::process::{ChildStdin, Stdio};
use std::time::Duration;

use process_wrap::std::{CommandWrap, ProcessSession};
use tokio::time::sleep;

use super::leader::Leader;
use super::orphans;
use super::program::current_exe;
use super::run_tag::HostProcess;

/// The command line task that runs the watchdog.
pub const TASK: &str = "watchdog";

/// How long the host's processes may take to end.
const GRACE: Duration = Duration::from_millis(500);

/// The wait before a watchdog that exited is started again.
const PAUSE: Duration = Duration::from_secs(1);

/// The watchdog of this process. It waits until this value is dropped.
#[derive(Debug)]
pub struct Watchdog {
    process: Leader,
    /// Without it the watchdog takes the host for ended.
    _lifeline: Option<ChildStdin>,
}

impl Watchdog {
    /// Starts a watchdog in its own session: signals from the host's terminal do not reach it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start() -> io::Result<Self> {
        let mut wrap = CommandWrap::with_new(current_exe()?.path(), |process| {
            process.args([TASK, &HostProcess::this().to_string()]).current_dir("/");
            process.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        });
        let (process, mut pipes) = Leader::start(wrap.wrap(ProcessSession))?;
        Ok(Self { process, _lifeline: pipes.stdin().take() })
    }

    /// Restarts the watchdog whenever it exits. Never returns while that works.
    pub async fn keep(mut self) {
        loop {
            let exit = self.process.exit().await;
            self.process.reap();
            tracing::warn!(%exit, "the watchdog exited and is started again");
            sleep(PAUSE).await;
            match Self::start() {
                Ok(watchdog) => self = watchdog,
                Err(error) => {
                    tracing::error!(%error, "no watchdog: if the host is killed, its runs end at its next start");
                    return;
                }
            }
        }
    }
}

/// Waits until the host has ended, and ends its processes.
///
/// # Errors
/// Standard input cannot be read.
pub fn run(host: HostProcess, mut input: impl Read) -> io::Result<()> {
    io::copy(&mut input, &mut io::sink())?;
    orphans::end_started_by(host, GRACE);
    Ok(())
}
