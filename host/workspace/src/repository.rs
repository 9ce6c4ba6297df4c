//! Kinds of configured repositories: a working tree, a folder inside one, or a bare repository.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::cached;
use super::error::WorkspaceError;
use super::git::Git;

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
    match cached::text(&path).await {
        Ok(content) => Ok(Some(content)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(WorkspaceError::AgentFile { path, error }),
    }
}
