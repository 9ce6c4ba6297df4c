//! The signals by which the process is told to stop, or to look at its files again. What is done then is `serve`'s and
//! `reload`'s.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Runtime};
use tokio::select;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// SIGTERM and SIGINT: stop. They are received by a thread of their own, so that they are heard while everything else is
/// blocked.
#[derive(Debug)]
pub struct Stop(UnboundedReceiver<()>);

/// SIGHUP: look again.
#[derive(Debug)]
pub(super) struct Hangup(Signal);

impl Stop {
    /// From here on these signals do not end the process by themselves.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let (terminate, interrupt) = {
            let _inside = runtime.enter();
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?)
        };
        let (heard, signals) = unbounded_channel();
        let name = "signals".to_owned();
        thread::Builder::new().name(name).spawn(move || pass_on(&runtime, terminate, interrupt, &heard))?;
        Ok(Self(signals))
    }

    /// Waits for the next one.
    pub async fn told(&mut self) {
        self.0.recv().await;
    }
}

/// Passes signals on for as long as somebody waits for them.
fn pass_on(runtime: &Runtime, mut terminate: Signal, mut interrupt: Signal, to: &UnboundedSender<()>) {
    runtime.block_on(async {
        loop {
            select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                () = to.closed() => return,
            }
            if to.send(()).is_err() {
                return;
            }
        }
    });
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
