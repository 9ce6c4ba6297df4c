//! Detects changes of a repository: its HEAD, the files that differ from it and their times; also of nested repositories.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::WorkspaceError;
use super::file_time::FileTime;
use super::git::Git;
use super::nested;
use super::temp_index::names;

/// The state of a repository at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeState {
    content: [u8; 32],
    /// The last change among the files that differ from HEAD, and the index, which a commit changes as well.
    last_change: Option<FileTime>,
}

impl TreeState {
    /// The current state.
    ///
    /// # Errors
    /// It is not a repository, git fails, or git's output is larger than the limit.
    pub async fn of(git: &Git, repo: &Path) -> Result<Self, WorkspaceError> {
        let top = git.line("rev-parse", repo, &["rev-parse", "--show-toplevel"]).await?;
        let (mut digest, mut last_change) = (Sha256::new(), None);
        let mut trees = vec![PathBuf::from(top)];
        while let Some(tree) = trees.pop() {
            let (status, inside) = tokio::try_join!(git.status(&tree), nested::filled(git, &tree))?;
            digest.update(tree.as_os_str().as_bytes());
            digest.update(&status);
            last_change = last_change.max(index(&tree).and_then(|index| changed_at(&index)));
            // A file that differed before may have changed again.
            for path in names(&status).filter_map(path) {
                let file = tree.join(OsStr::from_bytes(path));
                if let Ok(found) = fs::symlink_metadata(&file) {
                    digest.update(path);
                    digest.update(format!("\0{} {} {}\0", found.len(), found.mtime(), found.mtime_nsec()));
                }
                last_change = last_change.max(changed_at(&file));
            }
            trees.extend(inside);
        }
        Ok(Self { content: digest.finalize().into(), last_change })
    }

    /// Whether nothing was changed from `start` until this state. `before` is the state that was read then, with what was
    /// changed while it was read.
    pub fn is_unchanged(&self, before: &Self, start: FileTime) -> bool {
        self.content == before.content && self.last_change.is_none_or(|last| last < start)
    }
}

/// The index of a working tree: in its `.git`, or in the folder that a `.git` file of a linked worktree or submodule names.
fn index(tree: &Path) -> Option<PathBuf> {
    let git = tree.join(".git");
    let dir = if git.is_dir() {
        git
    } else {
        let named = fs::read_to_string(&git).ok()?;
        tree.join(named.strip_prefix("gitdir:")?.trim())
    };
    Some(dir.join("index"))
}

/// The last change of a file, or of the folder that it was removed from.
fn changed_at(file: &Path) -> Option<FileTime> {
    let found = file.ancestors().find_map(|path| fs::symlink_metadata(path).ok())?;
    Some(FileTime::of(&found))
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
