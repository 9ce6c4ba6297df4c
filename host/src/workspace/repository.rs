//! What is read from a repository itself.

use std::io::ErrorKind;
use std::path::Path;

use super::error::WorkspaceError;

/// The content of a repository's agent file, or nothing if there is no such file.
///
/// # Errors
/// The file is there and cannot be read as text.
pub async fn agent_file(repo: &Path, file: &Path) -> Result<Option<String>, WorkspaceError> {
    let path = repo.join(file);
    match tokio::fs::read_to_string(&path).await {
        Ok(content) => Ok(Some(content)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(WorkspaceError::AgentFile { path, error }),
    }
}
