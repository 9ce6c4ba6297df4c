//! What a configured repository is: a working tree, a folder inside one, or a bare repository.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::WorkspaceError;
use super::git::Git;

/// The way from the top of the working tree that a folder lies in to the folder itself.
pub(super) fn below_top(repo: &Path) -> PathBuf {
    let top = repo.ancestors().find(|folder| folder.join(".git").exists());
    let below = top.filter(|_| !is_bare(repo)).and_then(|top| repo.strip_prefix(top).ok());
    below.map(Path::to_owned).unwrap_or_default()
}

/// Whether a folder is a repository without a working tree.
fn is_bare(repo: &Path) -> bool {
    !repo.join(".git").exists() && repo.join("HEAD").is_file() && repo.join("objects").is_dir()
}

/// The content of a repository's agent file, or nothing if there is no such file. Of a bare repository it is the one of
/// the commit `base`.
///
/// # Errors
/// The file is there and cannot be read as text.
pub(super) async fn agent_file(
    git: &Git,
    repo: &Path,
    file: &Path,
    base: Option<&str>,
) -> Result<Option<String>, WorkspaceError> {
    if let Some(base) = base.filter(|_| is_bare(repo)) {
        return match git.object(repo, &format!("{base}:{}", file.display())).await? {
            Some(id) => git.text(repo, &id).await.map(Some),
            None => Ok(None),
        };
    }
    let path = repo.join(file);
    match tokio::fs::read_to_string(&path).await {
        Ok(content) => Ok(Some(content)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(WorkspaceError::AgentFile { path, error }),
    }
}
