//! Whether a repository is as it was: its HEAD and everything that differs from it.

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
    /// It is no repository, or git fails.
    pub async fn of(git: &Git, repo: &Path) -> Result<Self, WorkspaceError> {
        let status = git.status(repo).await?;
        Ok(Self(Sha256::digest(status.as_bytes()).into()))
    }
}
