//! Changes that the operating system reports.
//!
//! Folders are watched rather than files, since editors write a new file and rename it. All folders on the path are watched, link
//! by link, since a watch follows a folder that is renamed, and not its name.

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

use super::dependencies::Dependencies;
use super::{MAX_WAIT, QUIET, Watched};

/// How often the watches are set at most, while folders appear and go.
const ROUNDS: usize = 4;

/// Waits for changes.
#[derive(Debug)]
pub(super) struct Events {
    dirty: Arc<Notify>,
    watch: Arc<Watch>,
}

/// The watched paths, and the watches that are set.
#[derive(Debug)]
struct Watch {
    watched: Watched,
    /// As of the last time that the watches were set.
    dependencies: Arc<ArcSwap<Dependencies>>,
    set: Mutex<Set>,
}

/// The watches, which end when this is dropped.
#[derive(Debug)]
struct Set {
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
}

impl Events {
    /// # Errors
    /// The operating system does not report changes, or no more of them.
    pub(super) fn new(watched: Watched) -> notify::Result<Self> {
        let (dependencies, dirty) = (Arc::<ArcSwap<Dependencies>>::default(), Arc::new(Notify::new()));
        let (known, marked) = (Arc::clone(&dependencies), Arc::clone(&dirty));
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // After an error any change may have been missed.
            if event.map_or(true, |event| is_change(&event, &known.load())) {
                marked.notify_one();
            }
        })?;
        let set = Mutex::new(Set { watcher, folders: BTreeSet::new() });
        let watch = Arc::new(Watch { watched, dependencies, set });
        watch.arm()?;
        Ok(Self { dirty, watch })
    }

    pub(super) async fn changed(&self) {
        self.dirty.notified().await;
        let latest = Instant::now() + MAX_WAIT;
        while timeout_at(latest, timeout(QUIET, self.dirty.notified())).await.is_ok_and(|again| again.is_ok()) {}
    }

    /// Not on the threads that serve, and with a limit: a link may lead to a file system that does not respond.
    pub(super) async fn arm_again(&self) {
        let watch = Arc::clone(&self.watch);
        let armed = timeout(MAX_WAIT, spawn_blocking(move || watch.arm())).await;
        let failed = match armed {
            Ok(Ok(Ok(()))) => return,
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(lost)) => lost.to_string(),
            Err(elapsed) => elapsed.to_string(),
        };
        tracing::warn!(error = failed, "changes may be missed: reload with SIGHUP, or set `plugins.watch = \"poll\"`");
    }
}

impl Watch {
    /// Watches every folder that exists now. A folder of the same name may have been watched before.
    fn arm(&self) -> notify::Result<()> {
        let mut set = match self.set.try_lock() {
            Ok(set) => set,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => return Err(notify::Error::generic("the last attempt has not ended yet")),
        };
        for _round in 0..ROUNDS {
            self.set(&mut set)?;
            // A folder that was created before its parent was watched has caused no event.
            if Dependencies::of(&self.watched).to_watch() == set.folders {
                break;
            }
        }
        Ok(())
    }

    fn set(&self, Set { watcher, folders: before }: &mut Set) -> notify::Result<()> {
        let dependencies = Dependencies::of(&self.watched);
        let folders = dependencies.to_watch();
        self.dependencies.store(Arc::new(dependencies));
        let (mut paths, mut failed) = (watcher.paths_mut(), None);
        for folder in mem::replace(before, folders.clone()) {
            // A folder that was removed is no longer watched.
            let _not_watched = paths.remove(&folder);
        }
        for folder in &folders {
            if let Err(error) = paths.add(folder, RecursiveMode::NonRecursive) {
                failed = failed.or(Some(error).filter(|error| !is_expected(error)));
            }
        }
        paths.commit()?;
        failed.map_or(Ok(()), Err)
    }
}

/// Reading a file is not a change: a reload must not cause the next one. An event without a path means that events were lost.
fn is_change(event: &Event, dependencies: &Dependencies) -> bool {
    let is_watched = event.paths.is_empty() || event.paths.iter().any(|path| dependencies.include(path));
    is_watched && !matches!(event.kind, EventKind::Access(_))
}

/// A missing folder is noticed by the watch on its parent, and an unreadable one is reported by the reload.
fn is_expected(error: &notify::Error) -> bool {
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
