//! Changes that the operating system reports.
//!
//! Folders are watched rather than files, since editors write a new file and rename it; and all folders on the way, link
//! by link, since a watch stays with a folder that is renamed or removed, and not with its name.

use std::collections::BTreeSet;
use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use arc_swap::ArcSwap;
use notify::event::EventKind;
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout, timeout_at};

use super::way::Ways;
use super::{PATIENCE, QUIET, Watched};

/// Waits for changes.
#[derive(Debug)]
pub(super) struct Events {
    dirty: Arc<Notify>,
    watch: Arc<Watch>,
}

/// What is watched, and how.
#[derive(Debug)]
struct Watch {
    watched: Watched,
    /// As of the last time that the watches were set.
    ways: Arc<ArcSwap<Ways>>,
    set: Mutex<Set>,
}

/// The watches that are set. They last as long as this.
#[derive(Debug)]
struct Set {
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
}

impl Events {
    /// # Errors
    /// The operating system does not report changes, or no more of them.
    pub(super) fn new(watched: Watched) -> notify::Result<Self> {
        let (ways, dirty) = (Arc::<ArcSwap<Ways>>::default(), Arc::new(Notify::new()));
        let (concerning, marked) = (Arc::clone(&ways), Arc::clone(&dirty));
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // After an error anything may have been missed, so it calls for a look as well.
            if event.map_or(true, |event| is_change(&event, &concerning.load())) {
                marked.notify_one();
            }
        })?;
        let set = Mutex::new(Set { watcher, folders: BTreeSet::new() });
        let watch = Arc::new(Watch { watched, ways, set });
        watch.arm()?;
        Ok(Self { dirty, watch })
    }

    pub(super) async fn changed(&self) {
        self.dirty.notified().await;
        let latest = Instant::now() + PATIENCE;
        while timeout_at(latest, timeout(QUIET, self.dirty.notified())).await.is_ok_and(|again| again.is_ok()) {}
    }

    /// Off the threads that serve, and not waited for longer than for anything else: a link may lead to a file system that
    /// is far away.
    pub(super) async fn arm_again(&self) {
        let watch = Arc::clone(&self.watch);
        let armed = timeout(PATIENCE, spawn_blocking(move || watch.arm())).await;
        let failed = match armed {
            Ok(Ok(Ok(()))) => return,
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(lost)) => lost.to_string(),
            Err(elapsed) => elapsed.to_string(),
        };
        tracing::warn!(error = failed, "changes may go unseen: reload with SIGHUP, or set `plugins.watch = \"poll\"`");
    }
}

impl Watch {
    /// Watches every folder that is there now, whatever was watched under its name before.
    fn arm(&self) -> notify::Result<()> {
        let mut set = match self.set.try_lock() {
            Ok(set) => set,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => return Err(notify::Error::generic("the last attempt has not ended yet")),
        };
        let ways = Ways::of(&self.watched);
        let folders = ways.to_watch();
        self.ways.store(Arc::new(ways));
        let Set { watcher, folders: before } = &mut *set;
        let (mut paths, mut failed) = (watcher.paths_mut(), None);
        for folder in mem::replace(before, folders.clone()) {
            // It is not watched any more if it is gone.
            let _not_watched = paths.remove(&folder);
        }
        for folder in &folders {
            if let Err(error) = paths.add(folder, RecursiveMode::NonRecursive) {
                failed = failed.or(Some(error).filter(|error| !is_closed_to_us(error)));
            }
        }
        paths.commit()?;
        failed.map_or(Ok(()), Err)
    }
}

/// Reading a file is no change, and our own reading must not call for more of it. An event without a path says that some
/// were lost.
fn is_change(event: &Event, ways: &Ways) -> bool {
    let concerns = event.paths.is_empty() || event.paths.iter().any(|path| ways.concern(path));
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
