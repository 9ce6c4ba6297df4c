//! Detects changes of a repository: its HEAD, the files that differ from it and their times; also of nested repositories.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::WorkspaceError;
use super::git::Git;
use super::nested;
use super::temp_index::names;

/// The state of a repository at one moment. If two states are equal, nothing was changed in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeState([u8; 32]);

impl TreeState {
    /// The current state.
    ///
    /// # Errors
    /// It is not a repository, git fails, or git's output is larger than the limit.
    pub async fn of(git: &Git, repo: &Path) -> Result<Self, WorkspaceError> {
        let top = git.line("rev-parse", repo, &["rev-parse", "--show-toplevel"]).await?;
        let mut digest = Sha256::new();
        let mut trees = vec![PathBuf::from(top)];
        while let Some(tree) = trees.pop() {
            let (status, inside) = tokio::try_join!(git.status(&tree), nested::filled(git, &tree))?;
            digest.update(tree.as_os_str().as_bytes());
            digest.update(&status);
            // A file that differed before may have changed again.
            for path in names(&status).filter_map(path) {
                if let Ok(found) = fs::symlink_metadata(tree.join(OsStr::from_bytes(path))) {
                    digest.update(path);
                    digest.update(format!("\0{} {} {}\0", found.len(), found.mtime(), found.mtime_nsec()));
                }
            }
            trees.extend(inside);
        }
        Ok(Self(digest.finalize().into()))
    }
}

/// The path of an entry of `git status --porcelain=v2 -z`: the last of a number of fields.
fn path(entry: &[u8]) -> Option<&[u8]> {
    let fields = match entry.first()? {
        b'?' => 2,
        b'1' => 9,
        b'2' => 10,
        b'u' => 11,
        _ => return None,
    };
    entry.splitn(fields, |byte| *byte == b' ').nth(fields - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_each_kind_of_status_entry_is_found() {
        let entries: [&[u8]; 6] = [
            b"# branch.oid 0123",
            b"1 .M N... 100644 100644 100644 0123 0123 a file",
            b"2 R. N... 100644 100644 100644 0123 0123 R100 to\xff",
            b"u UU N... 100644 100644 100644 100644 0123 0123 0123 both",
            b"? new file",
            b"",
        ];
        let paths: Vec<_> = entries.into_iter().map(path).collect();
        let expected: [Option<&[u8]>; 6] =
            [None, Some(b"a file"), Some(b"to\xff"), Some(b"both"), Some(b"new file"), None];
        assert_eq!(paths, expected);
    }
}
