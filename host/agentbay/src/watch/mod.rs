//! Turns the noise of file systems into one word: look again. What to look at, and what it means, is known elsewhere.
//!
//! `events` hears of changes from the operating system, `poll` finds them by looking at regular times.

mod events;
mod poll;
mod way;

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay_config::Watching;

use events::Events;
use poll::Poll;

/// Nothing has happened for this long: whoever wrote has finished.
const QUIET: Duration = Duration::from_millis(200);
/// A folder that is never quiet is looked at all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is watched. Nothing of it need exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// Absolute paths of folders of plugins: the components directly in them count, and their signatures, and what links
    /// among them lead to. A log that is written there does not, or each look would call for the next.
    pub folders: Vec<PathBuf>,
    /// Absolute paths of files.
    pub files: Vec<PathBuf>,
}

/// Watches files and folders.
#[derive(Debug)]
pub struct Watch(How);

#[derive(Debug)]
enum How {
    Events(Events),
    Poll(Poll),
}

impl Watch {
    /// Begins to watch.
    ///
    /// # Errors
    /// The operating system does not tell of changes.
    pub fn new(watched: Watched, watching: Watching) -> notify::Result<Self> {
        Ok(Self(match watching {
            Watching::Events => How::Events(Events::new(watched)?),
            Watching::Poll { interval } => How::Poll(Poll::new(watched, interval)),
        }))
    }

    /// Waits for a change, and then until there is quiet. If it is given up on, [`Watch::arm`] has to be called.
    pub async fn changed(&mut self) {
        match &mut self.0 {
            How::Events(events) => events.changed().await,
            How::Poll(poll) => poll.changed().await,
        }
    }

    /// Begins anew, with what is there now: what happens from here on is a change. A look that follows sees all that
    /// happened before.
    pub async fn arm(&mut self) {
        match &mut self.0 {
            How::Events(events) => events.arm_again().await,
            How::Poll(poll) => poll.arm().await,
        }
    }
}

/// Whether a file is a component, or the signature of one.
fn is_of_a_plugin(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "wasm" || extension == "minisig")
}
