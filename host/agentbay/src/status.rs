//! What a running server tells the other programs of its user: which plugins it uses, and how they fare. It stands in a
//! file in the cache folder, beside a lock that goes with the server, however that ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use agentbay_os::files::{atomic_write, private_dir};
use agentbay_plugin_host::{Health, PluginSet};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The folder in the cache.
const FOLDER: &str = "servers";

const STATUS: &str = "json";
const LOCK: &str = "lock";

/// What a server tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The plugin folder.
    pub dir: PathBuf,
    /// The plugins in use, in the order of their ids.
    pub plugins: Vec<InUse>,
}

/// A plugin that a server uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InUse {
    /// Its id.
    pub id: String,
    /// Its own version.
    pub version: String,
    /// The hash of its component.
    pub sha256: String,
    /// How it fares.
    pub health: Health,
}

impl InUse {
    /// All of them.
    pub fn all(set: &PluginSet) -> Vec<Self> {
        let plugins = set.drivers.values().map(|driver| &driver.plugin);
        let told = plugins.map(|plugin| Self {
            id: plugin.id().to_string(),
            version: plugin.description().version.clone(),
            sha256: plugin.sha256().to_string(),
            health: plugin.health(),
        });
        told.collect()
    }
}

/// Where a server tells how it is. Nothing is left of it when it is dropped.
#[derive(Debug)]
pub struct Board {
    lock: PathBuf,
    /// Locked as long as it is open.
    _locked: File,
}

impl Board {
    /// Puts one up, and clears away those of servers that are gone.
    ///
    /// # Errors
    /// The cache folder cannot be written.
    pub fn put_up(cache: &Path) -> io::Result<Self> {
        let folder = cache.join(FOLDER);
        private_dir(&folder).map_err(io::Error::other)?;
        for lock in locks(&folder).filter(|lock| !is_held(lock)) {
            take_down(&lock);
        }
        let lock = folder.join(Uuid::now_v7().to_string()).with_extension(LOCK);
        // Whoever finds it finds it locked.
        let unfinished = lock.with_extension("unfinished");
        let locked = File::create(&unfinished)?;
        locked.lock()?;
        fs::rename(&unfinished, &lock)?;
        Ok(Self { lock, _locked: locked })
    }

    /// Tells how the server is now.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn tell(&self, status: &Status) -> io::Result<()> {
        atomic_write(&self.lock.with_extension(STATUS), &serde_json::to_vec(status)?)
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        take_down(&self.lock);
    }
}

/// What the servers tell that use this cache folder, the oldest first. Nothing if the folder may be another user's.
pub fn of_servers(cache: &Path) -> Vec<Status> {
    let folder = cache.join(FOLDER);
    if !folder.exists() || private_dir(&folder).is_err() {
        return Vec::new();
    }
    let mut held: Vec<PathBuf> = locks(&folder).filter(|lock| is_held(lock)).collect();
    held.sort();
    // It may not have told anything yet.
    let told = |lock: PathBuf| serde_json::from_slice(&fs::read(lock.with_extension(STATUS)).ok()?).ok();
    held.into_iter().filter_map(told).collect()
}

fn locks(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == LOCK))
}

fn is_held(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn take_down(lock: &Path) {
    for path in [&lock.with_extension(STATUS), lock] {
        // What is not there need not be taken down.
        let _gone = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(port: u16) -> Status {
        let plugin = InUse {
            id: "echo".to_owned(),
            version: "0.1.0".to_owned(),
            sha256: "00".to_owned(),
            health: Health::default(),
        };
        Status { listen: ([127, 0, 0, 1], port).into(), dir: "/plugins".into(), plugins: vec![plugin] }
    }

    #[test]
    fn what_servers_tell_is_heard_as_long_as_they_are_there() {
        let cache = tempfile::tempdir().unwrap();
        assert_eq!(of_servers(cache.path()), []);
        let [one, other] = [(); 2].map(|()| Board::put_up(cache.path()).unwrap());
        assert_eq!(of_servers(cache.path()), []);
        one.tell(&status(1)).unwrap();
        other.tell(&status(2)).unwrap();
        one.tell(&status(3)).unwrap();
        assert_eq!(of_servers(cache.path()), [status(3), status(2)]);
        drop(one);
        assert_eq!(of_servers(cache.path()), [status(2)]);
        drop(other);
        assert_eq!(fs::read_dir(cache.path().join(FOLDER)).unwrap().count(), 0);
    }

    #[test]
    fn what_a_server_left_that_was_killed_is_not_heard_and_cleared_away_by_the_next() {
        let cache = tempfile::tempdir().unwrap();
        let killed = Board::put_up(cache.path()).unwrap();
        killed.tell(&status(1)).unwrap();
        killed._locked.unlock().unwrap();
        assert_eq!(of_servers(cache.path()), []);
        let next = Board::put_up(cache.path()).unwrap();
        next.tell(&status(2)).unwrap();
        assert_eq!(of_servers(cache.path()), [status(2)]);
        assert_eq!(fs::read_dir(cache.path().join(FOLDER)).unwrap().count(), 2);
    }
}
