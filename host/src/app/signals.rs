//! The signals by which the process is told to stop, or to look at its files again. What is done then is `serve`'s and
//! `reload`'s.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT: stop.
#[derive(Debug)]
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

/// SIGHUP: look again.
#[derive(Debug)]
pub(super) struct Hangup(Signal);

impl Stop {
    /// From here on these signals do not end the process by themselves.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn new() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next one.
    pub async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

impl Hangup {
    /// From here on this signal does not end the process by itself.
    pub(super) fn new() -> io::Result<Self> {
        signal(SignalKind::hangup()).map(Self)
    }

    /// Waits for the next one.
    pub(super) async fn told(&mut self) {
        self.0.recv().await;
    }
}
