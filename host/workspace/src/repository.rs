//! Kinds of configured repositories: a working tree, a folder inside one, or a bare repository.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tokio::task::spawn_blocking;

use super::error::WorkspaceError;
use super::git::{Git, MAX_OUTPUT};

/// The path of a folder, relative to the top of its working tree.
pub(super) fn below_top(repo: &Path) -> PathBuf {
    top(repo).and_then(|top| repo.strip_prefix(top).ok()).map(Path::to_owned).unwrap_or_default()
}

/// The top of the working tree that contains a folder. A bare repository has none.
pub fn top(repo: &Path) -> Option<&Path> {
    repo.ancestors().find(|folder| folder.join(".git").exists()).filter(|_| !is_bare(repo))
}

/// Whether a folder is a repository or inside one, so that worktrees can be created from it.
pub fn is_repository(folder: &Path) -> bool {
    top(folder).is_some() || is_bare(folder)
}

/// Whether a folder is a repository without a working tree.
fn is_bare(repo: &Path) -> bool {
    !repo.join(".git").exists() && repo.join("HEAD").is_file() && repo.join("objects").is_dir()
}

/// The content of a repository's agent file, or `None` if there is no such file. A bare repository has the one of the
/// commit `base`.
///
/// # Errors
/// The file exists and cannot be read as text.
pub(super) async fn agent_file(
    git: &Git,
    repo: &Path,
    file: &Path,
    base: Option<&str>,
) -> Result<Option<String>, WorkspaceError> {
    if let Some(base) = base.filter(|_| is_bare(repo)) {
        return match git.object(repo, &format!("{base}:{}", file.display())).await? {
            Some(id) => git.content(repo, &id).await.map(Some),
            None => Ok(None),
        };
    }
    let path = repo.join(file);
    let opened = path.clone();
    match spawn_blocking(move || read_plain(&opened)).await.unwrap_or_else(|error| Err(error.into())) {
        Ok(content) => Ok(Some(content)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(WorkspaceError::AgentFile { path, error }),
    }
}

/// The text of a plain file. A pipe or a device is refused: it may block or be endless.
fn read_plain(path: &Path) -> io::Result<String> {
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(without_waiting).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    if found.len() > MAX_OUTPUT as u64 {
        return Err(io::Error::other(format!("it has {} bytes, more than {MAX_OUTPUT}", found.len())));
    }
    let mut text = String::new();
    file.take(MAX_OUTPUT as u64).read_to_string(&mut text)?;
    Ok(text)
}
