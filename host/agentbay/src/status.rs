//! The status file of a running server: its plugins and their health, for other programs of the user. It lies in the cache folder,
//! beside a lock that the kernel releases when the server ends.

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

/// The content of a status file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// The address of the server.
    pub listen: SocketAddr,
    /// The plugin folder.
    pub dir: PathBuf,
    /// The plugins in use, in the order of their ids.
    pub plugins: Vec<PluginStatus>,
}

/// A plugin that a server uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginStatus {
    /// Its id.
    pub id: String,
    /// Its own version.
    pub version: String,
    /// The hash of its component.
    pub sha256: String,
    /// Its health.
    pub health: Health,
}

impl PluginStatus {
    /// The plugins in use.
    pub fn all(set: &PluginSet) -> Vec<Self> {
        let plugins = set.drivers.values().map(|driver| &driver.plugin);
        let statuses = plugins.map(|plugin| Self {
            id: plugin.id().to_string(),
            version: plugin.description().version.clone(),
            sha256: plugin.sha256().to_string(),
            health: plugin.health(),
        });
        statuses.collect()
    }
}

/// The status file of this process, which is removed when this is dropped.
#[derive(Debug)]
pub struct StatusFile {
    lock: PathBuf,
    /// Locked while it is open.
    _locked: File,
}

impl StatusFile {
    /// Creates the file, and removes those of servers that have ended.
    ///
    /// # Errors
    /// The cache folder cannot be written.
    pub fn create(cache: &Path) -> io::Result<Self> {
        let folder = cache.join(FOLDER);
        private_dir(&folder).map_err(io::Error::other)?;
        for lock in locks(&folder).filter(|lock| !is_held(lock)) {
            remove(&lock);
        }
        let lock = folder.join(Uuid::now_v7().to_string()).with_extension(LOCK);
        // No other program sees the file before it is locked.
        let unfinished = lock.with_extension("unfinished");
        let locked = File::create(&unfinished)?;
        locked.lock()?;
        fs::rename(&unfinished, &lock)?;
        Ok(Self { lock, _locked: locked })
    }

    /// Replaces the content.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, status: &ServerStatus) -> io::Result<()> {
        atomic_write(&self.lock.with_extension(STATUS), &serde_json::to_vec(status)?)
    }
}

impl Drop for StatusFile {
    fn drop(&mut self) {
        remove(&self.lock);
    }
}

/// The status of each server that uses this cache folder, the oldest first. Empty if the folder may belong to another user.
pub fn of_servers(cache: &Path) -> Vec<ServerStatus> {
    let folder = cache.join(FOLDER);
    if !folder.exists() || private_dir(&folder).is_err() {
        return Vec::new();
    }
    let mut held: Vec<PathBuf> = locks(&folder).filter(|lock| is_held(lock)).collect();
    held.sort();
    // A server that has just started has not written its file yet.
    let read = |lock: PathBuf| serde_json::from_slice(&fs::read(lock.with_extension(STATUS)).ok()?).ok();
    held.into_iter().filter_map(read).collect()
}

fn locks(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == LOCK))
}

fn is_held(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn remove(lock: &Path) {
    for path in [&lock.with_extension(STATUS), lock] {
        // A file that does not exist need not be removed.
        let _removed = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(port: u16) -> ServerStatus {
        let plugin = PluginStatus {
            id: "echo".to_owned(),
            version: "0.1.0".to_owned(),
            sha256: "00".to_owned(),
            health: Health::default(),
        };
        ServerStatus { listen: ([127, 0, 0, 1], port).into(), dir: "/plugins".into(), plugins: vec![plugin] }
    }

    #[test]
    fn the_status_of_a_server_is_read_while_it_runs() {
        let cache = tempfile::tempdir().unwrap();
        assert_eq!(of_servers(cache.path()), []);
        let [one, other] = [(); 2].map(|()| StatusFile::create(cache.path()).unwrap());
        assert_eq!(of_servers(cache.path()), []);
        one.write(&status(1)).unwrap();
        other.write(&status(2)).unwrap();
        one.write(&status(3)).unwrap();
        assert_eq!(of_servers(cache.path()), [status(3), status(2)]);
        drop(one);
        assert_eq!(of_servers(cache.path()), [status(2)]);
        drop(other);
        assert_eq!(fs::read_dir(cache.path().join(FOLDER)).unwrap().count(), 0);
    }

    #[test]
    fn the_status_of_a_killed_server_is_ignored_and_removed_by_the_next_server() {
        let cache = tempfile::tempdir().unwrap();
        let killed = StatusFile::create(cache.path()).unwrap();
        killed.write(&status(1)).unwrap();
        killed._locked.unlock().unwrap();
        assert_eq!(of_servers(cache.path()), []);
        let next = StatusFile::create(cache.path()).unwrap();
        next.write(&status(2)).unwrap();
        assert_eq!(of_servers(cache.path()), [status(2)]);
        assert_eq!(fs::read_dir(cache.path().join(FOLDER)).unwrap().count(), 2);
    }
}
