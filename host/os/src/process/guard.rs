//! A small process beside the host that outlives it by a moment: when the host is gone, however it went, the guard ends
//! whatever the host had started.
//!
//! It is the program itself with another task. It knows that the host is gone when its standard input ends, of which
//! only the host holds the other end.

use std::io::{self, Read};
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use tokio::process::ChildStdin;
use tokio::time::sleep;

use super::mark::Host;
use super::orphans;
use super::program::ourselves;

/// The task of the program that is the guard, as on the command line.
pub const TASK: &str = "guard";

/// How long what the host had started may take to end.
const GRACE: Duration = Duration::from_millis(500);

/// A guard that cannot stay is not started again and again without a pause.
const PAUSE: Duration = Duration::from_secs(1);

/// A guard of this process. While this lives, the guard waits.
#[derive(Debug)]
pub struct Guard {
    process: Box<dyn ChildWrapper>,
    /// Waiting for the process would close it, and the guard take the host for gone.
    _lifeline: Option<ChildStdin>,
}

impl Guard {
    /// Starts one, in a session of its own: what ends the host from a terminal does not reach it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start() -> io::Result<Self> {
        let mut wrap = CommandWrap::with_new(ourselves()?.path(), |process| {
            process.args([TASK, &Host::this().to_string()]).current_dir("/");
            process.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        });
        wrap.wrap(ProcessSession);
        let mut process = wrap.spawn()?;
        let _lifeline = process.stdin().take();
        Ok(Self { process, _lifeline })
    }

    /// Sees to it that there always is one, for ever.
    pub async fn keep(mut self) {
        loop {
            let ended = self.process.wait().await;
            tracing::warn!(?ended, "the guard has ended, another one is started");
            sleep(PAUSE).await;
            match Self::start() {
                Ok(guard) => self = guard,
                Err(error) => {
                    tracing::error!(%error, "there is no guard: if the host is killed, its runs end at its next start");
                    return;
                }
            }
        }
    }
}

/// Waits until the host is gone, and ends what it had started.
///
/// # Errors
/// Standard input cannot be read.
pub fn run(host: Host, mut input: impl Read) -> io::Result<()> {
    io::copy(&mut input, &mut io::sink())?;
    orphans::end_all_of(host, GRACE);
    Ok(())
}
