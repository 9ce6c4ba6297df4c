//! Atomic replacement of a file: a reader sees the old content or the new one, also after a power failure.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// The temporary file is hidden, so that readers of the folder ignore it.
const PREFIX: &str = ".agentbay-";

/// The mode of a new file, before the umask.
const NEW_FILE_MODE: u32 = 0o666;

/// Replaces a file, or creates it. Mode and owner of the old file are kept, the owner where the system permits. A symbolic
/// link is replaced, not followed.
///
/// # Errors
/// The folder does not exist or cannot be written. The old file is then unchanged.
pub fn atomic_write(path: &Path, content: &[u8]) -> io::Result<()> {
    Staged::new(path, content)?.commit()
}

/// New content, synced to disk beside the file that it will replace. Dropping it leaves the file unchanged.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    file: NamedTempFile,
}

impl Staged {
    /// Writes the content beside the file.
    ///
    /// # Errors
    /// The folder does not exist or cannot be written.
    pub fn new(path: &Path, content: &[u8]) -> io::Result<Self> {
        let mut file = Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(NEW_FILE_MODE))
            .tempfile_in(folder(path))?;
        file.write_all(content)?;
        if let Ok(old) = fs::symlink_metadata(path)
            && old.is_file()
        {
            // Only root may change the owner of a file.
            let _kept = fchown(file.as_file(), Some(old.uid()), Some(old.gid()));
            file.as_file().set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))?;
        }
        file.as_file().sync_all()?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Replaces the file with the content.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn commit(self) -> io::Result<()> {
        let Self { path, file } = self;
        file.persist(&path).map_err(|failed| failed.error)?;
        // The rename is durable once the folder is synced. Some file systems cannot sync a folder.
        let _synced = File::open(folder(&path)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// The folder of a file; for a bare name the current one.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_created_and_replaced_and_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        atomic_write(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        atomic_write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert_eq!(names(dir.path()), ["a"]);
    }

    #[test]
    fn staged_content_that_is_not_committed_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "one").unwrap();
        drop(Staged::new(&path, b"two").unwrap());
        assert_eq!((fs::read(&path).unwrap(), names(dir.path())), (b"one".to_vec(), vec!["a".to_owned()]));
    }

    #[test]
    fn a_link_is_replaced_and_its_target_is_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let [path, target] = ["a", "b"].map(|name| dir.path().join(name));
        fs::write(&target, "theirs").unwrap();
        symlink(&target, &path).unwrap();
        atomic_write(&path, b"ours").unwrap();
        assert!(!path.is_symlink());
        assert_eq!([&path, &target].map(|path| fs::read_to_string(path).unwrap()), ["ours", "theirs"]);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(atomic_write(&dir.path().join("b/a"), b"").unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
