//! Reports that a watched file or folder has changed. What changed, and what it means, is decided by the reload.
//!
//! `events` receives changes from the operating system, `poll` compares at regular times.

mod dependencies;
mod events;
mod poll;

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay_config::WatchMode;

use events::Events;
use poll::Poll;

/// A writer has finished after this time without a change.
const QUIET: Duration = Duration::from_millis(200);
/// A change is reported after this time, also if the changes do not stop.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// The watched paths. None of them has to exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// Absolute paths of plugin folders: the components directly in them, their signatures, and the targets of links among them.
    /// Other files are ignored: a log that is written there would cause a reload after each reload.
    pub folders: Vec<PathBuf>,
    /// Absolute paths of files.
    pub files: Vec<PathBuf>,
}

/// Watches files and folders.
#[derive(Debug)]
pub struct Watch(Source);

#[derive(Debug)]
enum Source {
    Events(Events),
    Poll(Poll),
}

impl Watch {
    /// Starts to watch.
    ///
    /// # Errors
    /// The operating system does not report changes.
    pub fn new(watched: Watched, watching: WatchMode) -> notify::Result<Self> {
        Ok(Self(match watching {
            WatchMode::Events => Source::Events(Events::new(watched)?),
            WatchMode::Poll { interval } => Source::Poll(Poll::new(watched, interval)),
        }))
    }

    /// Waits for a change, and then until the changes stop. After it was cancelled, [`Watch::arm`] has to be called.
    pub async fn changed(&mut self) {
        match &mut self.0 {
            Source::Events(events) => events.changed().await,
            Source::Poll(poll) => poll.changed().await,
        }
    }

    /// Starts again with the present state: everything later is a change. A reload after this sees everything earlier.
    pub async fn arm(&mut self) {
        match &mut self.0 {
            Source::Events(events) => events.arm_again().await,
            Source::Poll(poll) => poll.arm().await,
        }
    }
}

/// Returns whether a file is a component, or the signature of one.
fn is_of_a_plugin(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "wasm" || extension == "minisig")
}
