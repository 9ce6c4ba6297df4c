//! Whether a repository is as it was: its HEAD, what differs from it, and when that was written.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::WorkspaceError;
use super::git::Git;

/// How a repository is at one moment. Two that are equal say that nothing was changed in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeState([u8; 32]);

impl TreeState {
    /// How it is now.
    ///
    /// # Errors
    /// It is no repository, git fails, or so much differs that not all of it was looked at.
    pub async fn of(git: &Git, repo: &Path) -> Result<Self, WorkspaceError> {
        let ask = ["rev-parse", "--show-toplevel"];
        let (top, status) = tokio::try_join!(git.line("rev-parse", repo, &ask), git.status(repo))?;
        let mut digest = Sha256::new();
        digest.update(&status);
        // A file that differed before may differ in another way now.
        for path in status.split('\0').filter_map(path) {
            if let Ok(found) = fs::symlink_metadata(Path::new(&top).join(path)) {
                digest.update(format!("{path}\0{} {} {}\0", found.len(), found.mtime(), found.mtime_nsec()));
            }
        }
        Ok(Self(digest.finalize().into()))
    }
}

/// The path of an entry of `git status --porcelain=v2 -z`: the last of a number of fields.
fn path(entry: &str) -> Option<&str> {
    let fields = match entry.as_bytes().first()? {
        b'?' => 2,
        b'1' => 9,
        b'2' => 10,
        b'u' => 11,
        _ => return None,
    };
    entry.splitn(fields, ' ').nth(fields - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_a_status_has_its_path() {
        let entries = [
            "# branch.oid 0123",
            "1 .M N... 100644 100644 100644 0123 0123 a file",
            "2 R. N... 100644 100644 100644 0123 0123 R100 to",
            "u UU N... 100644 100644 100644 100644 0123 0123 0123 both",
            "? new file",
            "",
        ];
        let paths: Vec<_> = entries.into_iter().map(path).collect();
        assert_eq!(paths, [None, Some("a file"), Some("to"), Some("both"), Some("new file"), None]);
    }
}
