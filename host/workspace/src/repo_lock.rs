//! The lock on a repository: git reads the records of all worktrees when it creates or removes one, and fails if another git
//! is writing them. The lock excludes the runs of this process and other servers of the same user.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};

/// Interval between attempts for a lock that another process holds: a `git worktree add` takes some 10 ms.
const RETRY: Duration = Duration::from_millis(5);

/// The locks of all repositories, by their common git folder.
#[derive(Debug, Clone, Default)]
pub(super) struct RepoLocks(Arc<Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>>);

/// A held lock.
#[derive(Debug)]
pub(super) struct RepoLock {
    _in_process: OwnedMutexGuard<()>,
    /// The kernel's lock on the folder, which is released when the process ends. `None` if it was not acquired.
    _across_processes: Option<File>,
}

impl RepoLocks {
    /// Waits for the lock of a repository. The wait for another process ends at `limit`: git has its own locks and reports
    /// conflicts.
    pub(super) async fn lock(&self, common: &Path, limit: Duration) -> RepoLock {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(common.to_owned()).or_default())
        };
        let guard = lock.lock_owned().await;
        RepoLock { _in_process: guard, _across_processes: lock_folder(common, limit).await }
    }
}

/// Locks the folder itself, so that no lock file is left in it.
async fn lock_folder(folder: &Path, limit: Duration) -> Option<File> {
    let folder = File::open(folder).ok()?;
    let started = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(std::fs::TryLockError::WouldBlock) if started.elapsed() < limit => sleep(RETRY).await,
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
        assert!(late._across_processes.is_none());
    }
}
