//! The record of a lease beside its worktree: `RUN.lease` in the folder of worktrees.
//!
//! It is locked while the host that created the worktree is alive: the kernel drops the lock with the process. A record that
//! can be locked belongs to a host that is gone, or to a worktree that was kept.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use agentbay_domain::{Keep, RunId};
use serde::{Deserialize, Serialize};

use super::error::WorkspaceError;

const EXTENSION: &str = "lease";

/// The purpose of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeaseRecord {
    /// The repository.
    pub(super) repo: PathBuf,
    /// The commit it was created from.
    pub(super) base: String,
    /// The model that worked in it.
    pub(super) model: String,
    /// Whether it stays after its run.
    pub(super) keep: Keep,
    /// Its run is over, and the worktree stays.
    pub(super) kept: bool,
    /// Its content is saved and it is being removed: the remaining files may be incomplete.
    #[serde(default)]
    pub(super) saved: bool,
}

/// A record file, locked by this process.
#[derive(Debug)]
pub(super) struct LeaseFile {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
}

/// A record that was found.
#[derive(Debug)]
pub(super) struct FoundLease {
    pub(super) run: RunId,
    pub(super) record: LeaseRecord,
    /// `None` if the host that created the worktree is alive.
    pub(super) file: Option<LeaseFile>,
}

impl LeaseFile {
    /// Writes a new record.
    pub(super) fn create(dir: &Path, run: RunId, record: &LeaseRecord) -> Result<Self, WorkspaceError> {
        let path = path(dir, run);
        match write(&path, record) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(WorkspaceError::Folder { path, reason: error.to_string() }),
        }
    }

    /// Replaces the record.
    ///
    /// # Errors
    /// It cannot be written. The old record is then unchanged.
    pub(super) fn replace(&mut self, record: &LeaseRecord) -> Result<(), WorkspaceError> {
        match write(&self.path, record) {
            Ok(file) => self.file = file,
            Err(error) => return Err(WorkspaceError::Folder { path: self.path.clone(), reason: error.to_string() }),
        }
        Ok(())
    }

    /// Removes the record: the worktree no longer exists.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove the lease record of a worktree");
        }
    }
}

/// All records in a folder of worktrees. Unreadable records are logged and skipped.
pub(super) fn find_all(dir: &Path) -> Vec<FoundLease> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut records: Vec<FoundLease> = paths.filter_map(|path| read(&path)).collect();
    records.sort_by_key(|found| found.run);
    records
}

/// Writes a record and returns the locked file. A record that is not locked is complete, also after a crash of the machine.
fn write(path: &Path, record: &LeaseRecord) -> io::Result<File> {
    let unfinished = path.with_extension("unfinished");
    let mut file = File::create(&unfinished)?;
    file.lock()?;
    file.write_all(&serde_json::to_vec(record)?)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

fn read(path: &Path) -> Option<FoundLease> {
    if path.extension()? != EXTENSION {
        return None;
    }
    let run = path.file_stem()?.to_str()?.parse().ok()?;
    let open = || -> io::Result<FoundLease> {
        let mut file = File::open(path)?;
        let in_use = match file.try_lock() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(error)) => return Err(error),
        };
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let record = serde_json::from_str(&text)?;
        let file = (!in_use).then(|| LeaseFile { path: path.to_owned(), file });
        Ok(FoundLease { run, record, file })
    };
    open()
        .inspect_err(
            |error| tracing::warn!(path = %path.display(), %error, "cannot read the lease record of a worktree"),
        )
        .ok()
}

fn path(dir: &Path, run: RunId) -> PathBuf {
    dir.join(run.to_string()).with_extension(EXTENSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_can_be_locked_only_when_its_host_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (base, model) = ("0123".to_owned(), "m".to_owned());
        let record = LeaseRecord { repo: "/repo".into(), base, model, keep: Keep::Never, kept: false, saved: false };
        let run = RunId::new();
        let file = LeaseFile::create(dir.path(), run, &record).unwrap();
        fs::write(dir.path().join("foreign.lease"), "").unwrap();
        let found = find_all(dir.path());
        let seen = |found: &FoundLease| (found.run, found.record.clone(), found.file.is_some());
        assert_eq!(found.iter().map(seen).collect::<Vec<_>>(), [(run, record.clone(), false)]);
        drop((found, file));
        let mut found = find_all(dir.path());
        assert_eq!(found.iter().map(seen).collect::<Vec<_>>(), [(run, record, true)]);
        found.remove(0).file.unwrap().remove();
        assert!(find_all(dir.path()).is_empty());
    }

    #[test]
    fn a_record_that_cannot_be_replaced_is_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let (base, model) = ("0123".to_owned(), "m".to_owned());
        let record = LeaseRecord { repo: "/repo".into(), base, model, keep: Keep::Changed, kept: false, saved: false };
        let run = RunId::new();
        let mut file = LeaseFile::create(dir.path(), run, &record).unwrap();
        // A new record is first written beside the old one, which fails here.
        fs::create_dir(path(dir.path(), run).with_extension("unfinished")).unwrap();
        assert!(file.replace(&LeaseRecord { kept: true, ..record.clone() }).is_err());
        drop(file);
        assert_eq!(find_all(dir.path())[0].record, record);

        fs::remove_dir(path(dir.path(), run).with_extension("unfinished")).unwrap();
        let mut file = find_all(dir.path()).remove(0).file.unwrap();
        file.replace(&LeaseRecord { kept: true, ..record.clone() }).unwrap();
        assert!(find_all(dir.path())[0].file.is_none(), "it is still locked");
        drop(file);
        assert_eq!(find_all(dir.path())[0].record, LeaseRecord { kept: true, ..record });
    }
}
