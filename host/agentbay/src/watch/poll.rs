//! Changes that are found by comparison at regular times: for file systems on which other machines write, where the operating
//! system reports nothing.
//!
//! Metadata is compared, to the nanosecond and in both directions: a plugin that is restored has an older time. Contents are
//! compared by the reload.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::{MAX_WAIT, QUIET, Watched, is_of_a_plugin};

/// Compares at regular times.
#[derive(Debug)]
pub(super) struct Poll {
    watched: Arc<Watched>,
    interval: Duration,
    before: Stamps,
}

/// The watched files that can be read.
type Stamps = BTreeMap<PathBuf, Stamp>;

/// The metadata of a file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl Poll {
    pub(super) fn new(watched: Watched, interval: Duration) -> Self {
        let before = scan(&watched);
        Self { watched: Arc::new(watched), interval, before }
    }

    pub(super) async fn changed(&self) {
        let mut now = loop {
            sleep(self.interval).await;
            let now = self.now().await;
            if now != self.before {
                break now;
            }
        };
        let latest = Instant::now() + MAX_WAIT;
        while Instant::now() < latest {
            sleep(QUIET).await;
            let next = self.now().await;
            if next == now {
                return;
            }
            now = next;
        }
    }

    pub(super) async fn arm(&mut self) {
        self.before = self.now().await;
    }

    /// Scans on a separate thread: a remote file system may be slow.
    async fn now(&self) -> Stamps {
        let watched = Arc::clone(&self.watched);
        spawn_blocking(move || scan(&watched)).await.unwrap_or_default()
    }
}

fn scan(watched: &Watched) -> Stamps {
    let entries = watched.folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let components = entries.map(|entry| entry.path()).filter(|path| is_of_a_plugin(path));
    let paths = components.chain(watched.files.iter().cloned());
    paths.filter_map(|path| stamp(&path).map(|stamp| (path, stamp))).collect()
}

fn stamp(path: &PathBuf) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp { inode: metadata.ino(), length: metadata.len(), modified: metadata.modified().ok() })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn scanned(dir: &Path) -> Stamps {
        scan(&Watched { folders: vec![dir.join("plugins")], files: vec![dir.join("proxy.toml")] })
    }

    fn set_time(file: &Path, time: SystemTime) {
        fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_file_that_is_restored_with_its_older_time_is_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("plugins/a.wasm");
        assert_eq!(scanned(dir.path()), Stamps::new());
        fs::create_dir(dir.path().join("plugins")).unwrap();
        fs::write(&file, "new").unwrap();
        let (new, again) = (scanned(dir.path()), scanned(dir.path()));
        assert_eq!((new.keys().collect::<Vec<_>>(), &new), (vec![&file], &again));
        set_time(&file, SystemTime::UNIX_EPOCH);
        assert_ne!(scanned(dir.path()), new);
    }

    #[test]
    fn a_settings_file_is_watched_and_its_neighbours_are_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("other.toml"), "").unwrap();
        assert_eq!(scanned(dir.path()), Stamps::new());
        let file = dir.path().join("proxy.toml");
        fs::write(&file, "").unwrap();
        assert_eq!(scanned(dir.path()).into_keys().collect::<Vec<_>>(), [file]);
    }
}
