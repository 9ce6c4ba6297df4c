//! Nested repositories of a working tree, such as submodules. Each is queried separately: a git that descends into them would
//! start others there, with their settings.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::WorkspaceError;
use super::git::Git;
use super::temp_index::names;

/// The mode of an entry that names a commit of another repository.
pub(super) const GITLINK: &[u8] = b"160000";

/// The nested repositories that the index names and that are present, without deeper levels.
pub(super) async fn filled(git: &Git, tree: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let listed = git.list("ls-files", tree, &["ls-files", "--full-name", "--stage", "-z"]).await?;
    let links = names(&listed).filter(|entry| entry.starts_with(GITLINK));
    let paths = links.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
    let paths = paths.map(|path| tree.join(OsStr::from_bytes(path)));
    Ok(paths.filter(|path| is_folder(path) && fs::symlink_metadata(path.join(".git")).is_ok()).collect())
}

/// Whether a nested repository of any level has uncommitted changes.
pub(super) async fn are_changed(git: &Git, tree: &Path) -> Result<bool, WorkspaceError> {
    let mut trees = filled(git, tree).await?;
    while let Some(tree) = trees.pop() {
        let status = git.status(&tree).await?;
        if names(&status).any(|entry| !entry.starts_with(b"# ")) {
            return Ok(true);
        }
        trees.extend(filled(git, &tree).await?);
    }
    Ok(false)
}

/// Whether a path is a folder. The target of a link is not part of the working tree.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
