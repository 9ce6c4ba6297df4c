//! The lock on a repository: git reads the records of all worktrees when it makes or removes one, and fails where another
//! git is about to write them. One at a time holds the lock, among the runs of this process and among its user's servers.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};

/// How often is tried for a lock that another process holds: a `git worktree add` takes some 10 ms.
const RETRY: Duration = Duration::from_millis(5);

/// The locks of all repositories, each by its common git folder.
#[derive(Debug, Clone, Default)]
pub(super) struct RepoLocks(Arc<Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>>);

/// A lock that is held.
#[derive(Debug)]
pub(super) struct RepoLock {
    _here: OwnedMutexGuard<()>,
    /// The kernel's lock on the folder, which ends with the process that has it. None if it cannot be had.
    _among_processes: Option<File>,
}

impl RepoLocks {
    /// Waits for the lock of a repository. Another process that holds it is waited for no longer than `limit`: git has
    /// locks of its own, and tells what it meets.
    pub(super) async fn lock(&self, common: &Path, limit: Duration) -> RepoLock {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(common.to_owned()).or_default())
        };
        let here = lock.lock_owned().await;
        RepoLock { _here: here, _among_processes: lock_folder(common, limit).await }
    }
}

/// The lock is on the folder itself, so that no file is left in it.
async fn lock_folder(folder: &Path, limit: Duration) -> Option<File> {
    let folder = File::open(folder).ok()?;
    let begun = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(std::fs::TryLockError::WouldBlock) if begun.elapsed() < limit => sleep(RETRY).await,
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lock_is_held_against_this_process_and_others_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let (locks, limit) = (RepoLocks::default(), Duration::from_secs(60));
        let held = locks.lock(dir.path(), limit).await;
        let elsewhere = File::open(dir.path()).unwrap();
        assert!(elsewhere.try_lock().is_err());
        let mut next = Box::pin(locks.lock(dir.path(), limit));
        assert!(tokio::time::timeout(Duration::ZERO, &mut next).await.is_err());
        drop(held);
        drop(next.await);
        elsewhere.try_lock().unwrap();
        let late = locks.lock(dir.path(), Duration::ZERO).await;
        assert!(late._among_processes.is_none());
    }
}
