//! The signals that stop the process or reload its files. They are carried out in `serve` and `reload`.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Runtime};
use tokio::select;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// SIGTERM and SIGINT: stop. A separate thread receives them, also while everything else is blocked.
#[derive(Debug)]
pub struct Stop(UnboundedReceiver<()>);

/// SIGHUP: reload.
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
        let (sender, signals) = unbounded_channel();
        let name = "signals".to_owned();
        thread::Builder::new().name(name).spawn(move || forward(&runtime, terminate, interrupt, &sender))?;
        Ok(Self(signals))
    }

    /// Waits for the next signal.
    pub async fn received(&mut self) {
        self.0.recv().await;
    }
}

/// Forwards signals until the receiver is dropped.
fn forward(runtime: &Runtime, mut terminate: Signal, mut interrupt: Signal, to: &UnboundedSender<()>) {
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

    /// Waits for the next signal.
    pub(super) async fn received(&mut self) {
        self.0.recv().await;
    }
}
