//! The second step of an attempt: the working directory and the process. Everything that is acquired is in the `cleanup` at
//! once, so that an attempt that ends in between releases it.

use std::path::Path;

use agentbay_domain::HelperScripts;
use agentbay_os::process;
use agentbay_workspace::{Additions, Git, WorkspaceError};
use tokio_util::sync::CancellationToken;

use super::before::Before;
use super::error::CliError;
use super::prepare::Launch;
use super::process::Process;
use super::{Cleanup, Cli};
use crate::backend::Attempt;

impl Cli {
    pub(super) async fn acquire(
        &self,
        attempt: &Attempt<'_>,
        launch: Launch,
        git: &Git,
        unwanted: &CancellationToken,
        cleanup: &mut Cleanup,
    ) -> Result<Process, CliError> {
        let Launch { command, files, attachments, site, run_dir } = launch;
        run_dir.write(&files)?;
        run_dir.put(attachments.iter().map(|file| (&*file.name, &*file.content)))?;
        let workdir = site.workdir();
        site.lease(git, &mut cleanup.lease).await?;
        cleanup.additions = self.additions(git, &workdir).await?;
        if unwanted.is_cancelled() {
            return Err(CliError::Unwanted);
        }
        let started = process::start(command, attempt.model.limits.program_busy_timeout).await;
        let child = started.map_err(|error| CliError::Spawn { error, install_hint: String::new() })?;
        tracing::info!(workdir = %workdir.display(), "run started");
        Ok(Process::new(child, run_dir))
    }

    /// What a further attempt has to know of the repository. An attempt in a worktree leaves nothing there.
    pub(super) fn before(&self, attempt: &Attempt<'_>, git: &Git) -> Before {
        let reports_tools = self.driver.as_ref().is_ok_and(|driver| driver.plugin.description().features.tools);
        if self.target.worktree.is_some() || !attempt.may_be_followed {
            Before::Unknown
        } else if reports_tools {
            Before::ToolsReported
        } else {
            Before::read(git.clone(), self.target.repo.clone())
        }
    }

    /// The content of the folder for helpers, if new files in it are to be committed.
    async fn additions(&self, git: &Git, workdir: &Path) -> Result<Option<Additions>, WorkspaceError> {
        let Some(HelperScripts::Allowed { dir, log: Some(log) }) = &self.target.helpers else { return Ok(None) };
        let before = Additions::before(git, workdir, dir, log).await;
        known(before.inspect_err(|reason| tracing::warn!(%reason, "what the agent adds will not be committed")))
    }
}

/// What git reports of a repository, if it can. A git that hangs ends the run, since it would hang again.
fn known<T>(reported: Result<T, WorkspaceError>) -> Result<Option<T>, WorkspaceError> {
    match reported {
        Ok(reported) => Ok(Some(reported)),
        Err(error @ (WorkspaceError::TimedOut { .. } | WorkspaceError::Cancelled)) => Err(error),
        Err(_unknown) => Ok(None),
    }
}
