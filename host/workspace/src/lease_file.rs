//! The note beside a worktree that says what it was lent for: `RUN.lease` in the folder of worktrees.
//!
//! It is locked for as long as the host lives that lent the worktree: the lock goes with the process, however that
//! ends. A note that can be locked is of a host that is gone, or of a worktree that was kept.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use agentbay_domain::{Keep, RunId};
use serde::{Deserialize, Serialize};

use super::error::WorkspaceError;

const EXTENSION: &str = "lease";

/// What a worktree was lent for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// The repository.
    pub(super) repo: PathBuf,
    /// The commit it was made from.
    pub(super) base: String,
    /// The model that worked in it.
    pub(super) model: String,
    /// Whether it stays after its run.
    pub(super) keep: Keep,
    /// Its run is over, and it stays.
    pub(super) kept: bool,
    /// What was in it is saved, and it is being removed: what is still there may be a part of it only.
    #[serde(default)]
    pub(super) saved: bool,
}

/// A note, locked by this process.
#[derive(Debug)]
pub(super) struct LeaseFile {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
}

/// A note that was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) run: RunId,
    pub(super) note: Note,
    /// Nothing if the host lives that lent the worktree.
    pub(super) file: Option<LeaseFile>,
}

impl LeaseFile {
    /// Writes a note that is not there yet.
    pub(super) fn create(dir: &Path, run: RunId, note: &Note) -> Result<Self, WorkspaceError> {
        let path = path(dir, run);
        match write(&path, note) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(WorkspaceError::Folder { path, reason: error.to_string() }),
        }
    }

    /// Writes another note in its place.
    ///
    /// # Errors
    /// It cannot be written, and the one that is there stays.
    pub(super) fn replace(&mut self, note: &Note) -> Result<(), WorkspaceError> {
        match write(&self.path, note) {
            Ok(file) => self.file = file,
            Err(error) => return Err(WorkspaceError::Folder { path: self.path.clone(), reason: error.to_string() }),
        }
        Ok(())
    }

    /// Takes the note away: there is no worktree any more.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove the note of a worktree");
        }
    }
}

/// Every note in a folder of worktrees. What cannot be read is told of and left alone.
pub(super) fn all_in(dir: &Path) -> Vec<Found> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut notes: Vec<Found> = paths.filter_map(|path| read(&path)).collect();
    notes.sort_by_key(|found| found.run);
    notes
}

/// Writes a note, and gives the file with its lock. Whoever finds it without its lock finds it whole, also after a crash of
/// the machine.
fn write(path: &Path, note: &Note) -> io::Result<File> {
    let unfinished = path.with_extension("unfinished");
    let mut file = File::create(&unfinished)?;
    file.lock()?;
    file.write_all(&serde_json::to_vec(note)?)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

fn read(path: &Path) -> Option<Found> {
    if path.extension()? != EXTENSION {
        return None;
    }
    let run = path.file_stem()?.to_str()?.parse().ok()?;
    let open = || -> io::Result<Found> {
        let mut file = File::open(path)?;
        let lent = match file.try_lock() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(error)) => return Err(error),
        };
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let note = serde_json::from_str(&text)?;
        let file = (!lent).then(|| LeaseFile { path: path.to_owned(), file });
        Ok(Found { run, note, file })
    };
    open()
        .inspect_err(|error| tracing::warn!(path = %path.display(), %error, "cannot read the note of a worktree"))
        .ok()
}

fn path(dir: &Path, run: RunId) -> PathBuf {
    dir.join(run.to_string()).with_extension(EXTENSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_can_be_taken_over_only_when_its_host_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (base, model) = ("0123".to_owned(), "m".to_owned());
        let note = Note { repo: "/repo".into(), base, model, keep: Keep::Never, kept: false, saved: false };
        let run = RunId::new();
        let file = LeaseFile::create(dir.path(), run, &note).unwrap();
        fs::write(dir.path().join("foreign.lease"), "").unwrap();
        let found = all_in(dir.path());
        let seen = |found: &Found| (found.run, found.note.clone(), found.file.is_some());
        assert_eq!(found.iter().map(seen).collect::<Vec<_>>(), [(run, note.clone(), false)]);
        drop((found, file));
        let mut found = all_in(dir.path());
        assert_eq!(found.iter().map(seen).collect::<Vec<_>>(), [(run, note, true)]);
        found.remove(0).file.unwrap().remove();
        assert!(all_in(dir.path()).is_empty());
    }

    #[test]
    fn a_note_that_cannot_be_replaced_stays_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let (base, model) = ("0123".to_owned(), "m".to_owned());
        let note = Note { repo: "/repo".into(), base, model, keep: Keep::Changed, kept: false, saved: false };
        let run = RunId::new();
        let mut file = LeaseFile::create(dir.path(), run, &note).unwrap();
        // A new note is written beside the old one first, and here it cannot be.
        fs::create_dir(path(dir.path(), run).with_extension("unfinished")).unwrap();
        assert!(file.replace(&Note { kept: true, ..note.clone() }).is_err());
        drop(file);
        assert_eq!(all_in(dir.path())[0].note, note);

        fs::remove_dir(path(dir.path(), run).with_extension("unfinished")).unwrap();
        let mut file = all_in(dir.path()).remove(0).file.unwrap();
        file.replace(&Note { kept: true, ..note.clone() }).unwrap();
        assert!(all_in(dir.path())[0].file.is_none(), "it is still locked");
        drop(file);
        assert_eq!(all_in(dir.path())[0].note, Note { kept: true, ..note });
    }
}
