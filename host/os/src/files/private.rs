//! Private folders, which no other user of the machine can open.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The reason why a folder cannot be used as a private one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}", path = .path.display())]
pub struct FolderError {
    /// The folder.
    pub path: PathBuf,
    /// The fault, and what to do.
    pub reason: String,
}

/// Creates a folder and its parents, which only the user can open; or checks that the existing folder is private.
///
/// # Errors
/// It cannot be created, is not a folder, belongs to another user, or other users can open it.
pub fn private_dir(path: &Path) -> Result<(), FolderError> {
    let refuse = |reason: String| FolderError { path: path.to_owned(), reason };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| refuse(error.to_string()))?;
    // A link is not followed: in a folder that everybody can write to, another user could have created it.
    let found = fs::symlink_metadata(path).map_err(|error| refuse(error.to_string()))?;
    if !found.is_dir() {
        return Err(refuse("it is not a folder".to_owned()));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(refuse("it belongs to another user: choose another folder in proxy.toml".to_owned()));
    }
    if found.mode() & 0o077 != 0 {
        return Err(refuse(format!("other users may open it: `chmod 700 {}`", path.display())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_folder_is_created_private_and_accepted_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        private_dir(&path).unwrap();
        private_dir(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_link_and_a_folder_that_others_can_open_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("open");
        private_dir(&path).unwrap();
        let link = dir.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(private_dir(&link).unwrap_err().to_string().ends_with("it is not a folder"));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(private_dir(&path).unwrap_err().to_string().contains("chmod 700"));
    }
}
