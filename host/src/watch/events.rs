//! Changes that the operating system tells of.
//!
//! Folders are watched rather than files, since editors write a new file and rename it; and so are all folders on the way,
//! since a watch stays with a folder that is renamed or removed, and not with its name.

use std::io;
use std::sync::Arc;

use notify::event::EventKind;
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};

use super::{PATIENCE, QUIET, Watched};

/// Hears of changes.
#[derive(Debug)]
pub(super) struct Events {
    watched: Arc<Watched>,
    dirty: Arc<Notify>,
    /// Watches as long as it lives.
    watcher: RecommendedWatcher,
}

impl Events {
    /// # Errors
    /// The operating system does not tell of changes, or of no more of them.
    pub(super) fn new(watched: Watched) -> notify::Result<Self> {
        let (watched, dirty) = (Arc::new(watched), Arc::new(Notify::new()));
        let (concerning, marked) = (Arc::clone(&watched), Arc::clone(&dirty));
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // After an error anything may have been missed, so it calls for a look as well.
            if event.map_or(true, |event| is_change(&event, &concerning)) {
                marked.notify_one();
            }
        })?;
        let mut events = Self { watched, dirty, watcher };
        events.arm()?;
        Ok(events)
    }

    pub(super) async fn changed(&self) {
        self.dirty.notified().await;
        let latest = Instant::now() + PATIENCE;
        while timeout_at(latest, timeout(QUIET, self.dirty.notified())).await.is_ok_and(|again| again.is_ok()) {}
    }

    pub(super) fn arm_again(&mut self) {
        if let Err(error) = self.arm() {
            tracing::warn!(%error, "changes may go unseen: look again with SIGHUP, or set `plugins.watch = \"poll\"`");
        }
    }

    /// Watches every folder that is there, whatever was watched under its name before.
    fn arm(&mut self) -> notify::Result<()> {
        let mut paths = self.watcher.paths_mut();
        let mut failed = None;
        for folder in self.watched.ways() {
            // It is not watched if it was not there.
            let _not_watched = paths.remove(&folder);
            if let Err(error) = paths.add(&folder, RecursiveMode::NonRecursive) {
                failed = failed.or(Some(error).filter(|error| !is_closed_to_us(error)));
            }
        }
        paths.commit()?;
        failed.map_or(Ok(()), Err)
    }
}

/// Reading a file is no change, and our own reading must not call for more of it. An event without a path says that some
/// were lost.
fn is_change(event: &Event, watched: &Watched) -> bool {
    let concerns = event.paths.is_empty() || event.paths.iter().any(|path| watched.concerns(path));
    concerns && !matches!(event.kind, EventKind::Access(_))
}

/// A folder that is not there is seen to come by the one above it, and one that cannot be read is told of when it is
/// looked at.
fn is_closed_to_us(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(error) => {
            let kinds = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory, io::ErrorKind::PermissionDenied];
            kinds.contains(&error.kind())
        }
        ErrorKind::Generic(_) | ErrorKind::WatchNotFound | ErrorKind::InvalidConfig(_) | ErrorKind::MaxFilesWatch => {
            false
        }
    }
}
