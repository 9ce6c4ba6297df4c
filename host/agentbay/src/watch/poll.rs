//! Changes that are found by looking: for file systems on which other machines write, of which no operating system tells.
//!
//! What is compared is what a file system says of a file, to the nanosecond and in both directions: a plugin that is put
//! back has the older time. Contents are left to whoever looks.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::{PATIENCE, QUIET, Watched, is_of_a_plugin};

/// Looks at regular times.
#[derive(Debug)]
pub(super) struct Poll {
    watched: Arc<Watched>,
    interval: Duration,
    seen: Seen,
}

/// What there was, without what cannot be read.
type Seen = BTreeMap<PathBuf, Mark>;

/// What a file system says of a file.
#[derive(Debug, PartialEq, Eq)]
struct Mark {
    inode: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl Poll {
    pub(super) fn new(watched: Watched, interval: Duration) -> Self {
        let seen = see(&watched);
        Self { watched: Arc::new(watched), interval, seen }
    }

    pub(super) async fn changed(&self) {
        let mut now = loop {
            sleep(self.interval).await;
            let now = self.now().await;
            if now != self.seen {
                break now;
            }
        };
        let latest = Instant::now() + PATIENCE;
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
        self.seen = self.now().await;
    }

    /// Looks on a thread of its own: a file system that is far away may take its time.
    async fn now(&self) -> Seen {
        let watched = Arc::clone(&self.watched);
        spawn_blocking(move || see(&watched)).await.unwrap_or_default()
    }
}

fn see(watched: &Watched) -> Seen {
    let entries = watched.folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let components = entries.map(|entry| entry.path()).filter(|path| is_of_a_plugin(path));
    let paths = components.chain(watched.files.iter().cloned());
    paths.filter_map(|path| mark(&path).map(|mark| (path, mark))).collect()
}

fn mark(path: &PathBuf) -> Option<Mark> {
    let metadata = fs::metadata(path).ok()?;
    Some(Mark { inode: metadata.ino(), length: metadata.len(), modified: metadata.modified().ok() })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn seen(dir: &Path) -> Seen {
        see(&Watched { folders: vec![dir.join("plugins")], files: vec![dir.join("proxy.toml")] })
    }

    fn back_to(file: &Path, time: SystemTime) {
        fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn what_is_put_back_with_its_older_time_is_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("plugins/a.wasm");
        assert_eq!(seen(dir.path()), Seen::new());
        fs::create_dir(dir.path().join("plugins")).unwrap();
        fs::write(&file, "new").unwrap();
        let (new, again) = (seen(dir.path()), seen(dir.path()));
        assert_eq!((new.keys().collect::<Vec<_>>(), &new), (vec![&file], &again));
        back_to(&file, SystemTime::UNIX_EPOCH);
        assert_ne!(seen(dir.path()), new);
    }

    #[test]
    fn a_file_of_the_settings_counts_and_its_neighbours_do_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("other.toml"), "").unwrap();
        assert_eq!(seen(dir.path()), Seen::new());
        let file = dir.path().join("proxy.toml");
        fs::write(&file, "").unwrap();
        assert_eq!(seen(dir.path()).into_keys().collect::<Vec<_>>(), [file]);
    }
}
