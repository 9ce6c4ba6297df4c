//! Turns the noise of file systems into one word: look again. What to look at, and what it means, is known elsewhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::EventKind;
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};

/// Nothing has happened for this long: whoever wrote has finished.
const QUIET: Duration = Duration::from_millis(200);
/// A folder that is never quiet is looked at all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// Watches files and folders.
#[derive(Debug)]
pub struct Watch {
    dirty: Arc<Notify>,
    /// Watches as long as it lives.
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Watches what is directly in `folders`, and `files`, which need not exist as long as their folders do. Folders
    /// are watched rather than files, since editors write a new file and rename it.
    ///
    /// # Errors
    /// A folder cannot be watched.
    pub fn new(folders: Vec<PathBuf>, files: Vec<PathBuf>) -> notify::Result<Self> {
        let dirty = Arc::new(Notify::new());
        let to_watch: Vec<PathBuf> = folders.iter().cloned().chain(parents(&files)).collect();
        let marked = Arc::clone(&dirty);
        let concerns = move |path: &PathBuf| files.contains(path) || folders.iter().any(|dir| path.starts_with(dir));
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // After an error anything may have been missed, so it calls for a look as well.
            let look = event.map_or(true, |event| is_change(&event) && event.paths.iter().any(&concerns));
            if look {
                marked.notify_one();
            }
        })?;
        for folder in to_watch {
            watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        }
        Ok(Self { dirty, _watcher: watcher })
    }

    /// Waits for a change, and then until there is quiet.
    pub async fn changed(&self) {
        self.dirty.notified().await;
        let latest = Instant::now() + PATIENCE;
        while timeout_at(latest, timeout(QUIET, self.dirty.notified())).await.is_ok_and(|again| again.is_ok()) {}
    }
}

/// Reading a file is no change, and our own reading must not call for more of it.
fn is_change(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Access(_))
}

fn parents(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut parents: Vec<PathBuf> = files.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
    parents.sort();
    parents.dedup();
    parents
}
