//! What is known of the repository before an attempt that works in it. Another attempt may follow only if nothing was changed.

use std::path::{Path, PathBuf};

use agentbay_workspace::{FileTime, Git, TreeState};
use tokio_util::task::AbortOnDropHandle;

use crate::tasks;

/// What is known of a repository before an attempt.
#[derive(Debug)]
pub(super) enum Before {
    /// Nothing: no further attempt depends on it.
    Unknown,
    /// The driver reports every tool that the agent uses: without a tool nothing is changed.
    ToolsReported,
    /// git reads the state while the CLI starts.
    Reading(FileTime, AbortOnDropHandle<Option<TreeState>>),
}

impl Before {
    /// Starts to read the state of a repository, before the CLI is started. A folder that is not a repository has none.
    pub(super) fn read(git: Git, repo: PathBuf) -> Self {
        let start = FileTime::now();
        let read = async move {
            let state = TreeState::of(&git, &repo).await;
            state.inspect_err(|reason| tracing::debug!(%reason, "the run cannot be tried again")).ok()
        };
        Self::Reading(start, tasks::beside(read))
    }

    /// Ends the reading: no further attempt follows.
    pub(super) fn give_up(&mut self) {
        *self = Self::Unknown;
    }

    /// Whether the repository is unchanged after an attempt that has used no tool.
    pub(super) async fn proves_unchanged(self, git: &Git, repo: &Path) -> bool {
        match self {
            Self::Unknown => false,
            Self::ToolsReported => true,
            Self::Reading(start, before) => {
                let Ok(Some(before)) = before.await else { return false };
                TreeState::of(git, repo).await.is_ok_and(|now| now.is_unchanged(&before, start))
            }
        }
    }
}
