//! One attempt, from its start to its outcome: `prepare`, `acquire` and `converse`. What it leaves to release is in its
//! `Cleanup`, however it ends.

use std::time::Duration;

use agentbay_domain::{KillReason, Usage};
use agentbay_workspace::Git;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::error::CliError;
use super::explain::explained;
use super::prepare::{Dialog, Prepared};
use super::process::Process;
use super::pump::{self, TurnResult};
use super::{Cleanup, Cli};
use crate::backend::{self, Attempt, Attempted};
use crate::queue::Slot;
use crate::scope::interruption;
use crate::step::{Ended, Step};

/// How long git may take to end when a run ends while it starts. It removes its locks in that time.
const GIT_GRACE: Duration = Duration::from_millis(800);

/// Why nothing was started.
enum NotStarted {
    /// Something failed.
    Failed(CliError),
    /// The run ended while it started.
    Interrupted(KillReason),
}

impl Cli {
    /// Carries out an attempt.
    pub(crate) async fn run(&self, attempt: Attempt<'_>, slot: Slot) -> Attempted {
        let git = attempt.context.git.with_limit(attempt.model.limits.git_timeout);
        let mut cleanup = Cleanup::new(&attempt, slot, git);
        let (ended, may_retry) = match self.start(&attempt, &mut cleanup).await {
            Ok((dialog, process)) => self.converse(&attempt, dialog, process, &mut cleanup).await,
            Err(NotStarted::Failed(error)) => {
                tracing::warn!(%error, "run not started");
                let may_retry = error.may_retry();
                (Ended::without_usage(error.into_failure()), may_retry)
            }
            Err(NotStarted::Interrupted(reason)) => {
                let failure = interruption(reason, attempt.model);
                (Ended::without_usage(failure), reason == KillReason::Timeout)
            }
        };
        let cleanup = Some(backend::Cleanup::Cli(Box::new(cleanup)));
        Attempted { ended: explained(ended, self), may_retry, cleanup }
    }

    /// Reports that the model is tried and starts its process, while the run is wanted and has time.
    async fn start(&self, attempt: &Attempt<'_>, cleanup: &mut Cleanup) -> Result<(Dialog, Process), NotStarted> {
        self.report(attempt, None).await.map_err(NotStarted::Interrupted)?;
        let unwanted = CancellationToken::new();
        let git = cleanup.git.until(&unwanted);
        let (reason, late) = {
            let mut start = Box::pin(self.prepare_and_acquire(attempt, &git, &unwanted, cleanup));
            match attempt.run_in_time(&mut start).await {
                Ok(started) => {
                    let started = started.map_err(NotStarted::Failed)?;
                    let reported = match &self.target.worktree {
                        Some(_) => self.report(attempt, Some(agentbay_workspace::reference(attempt.run))).await,
                        None => Ok(()),
                    };
                    match reported {
                        Ok(()) => return Ok(started),
                        Err(reason) => (reason, Some(started)),
                    }
                }
                Err(reason) => {
                    unwanted.cancel();
                    (reason, timeout(GIT_GRACE, start).await.ok().and_then(Result::ok))
                }
            }
        };
        cleanup.process = late.map(|(_, mut process)| {
            process.after.is_unwanted = true;
            process
        });
        Err(NotStarted::Interrupted(reason))
    }

    async fn prepare_and_acquire(
        &self,
        attempt: &Attempt<'_>,
        git: &Git,
        unwanted: &CancellationToken,
        cleanup: &mut Cleanup,
    ) -> Result<(Dialog, Process), CliError> {
        cleanup.before = self.before(attempt, git);
        let Prepared { dialog, launch } = tokio::select! {
            prepared = self.prepare(attempt, git) => prepared?,
            // It may wait for a plugin that is compiled.
            () = unwanted.cancelled() => return Err(CliError::Unwanted),
        };
        let process = self.acquire(attempt, launch, git, unwanted, cleanup).await?;
        Ok((dialog, process))
    }

    async fn converse(
        &self,
        attempt: &Attempt<'_>,
        dialog: Dialog,
        mut process: Process,
        cleanup: &mut Cleanup,
    ) -> (Ended, bool) {
        let Dialog { turn, reading } = dialog;
        let TurnResult { outcome, tally, answer_chars, may_retry, after } =
            pump::converse(attempt, cleanup, &self.target, &turn, reading, &mut process.child).await;
        let reported = tally.total(attempt.request.session.is_some());
        let usage = reported.unwrap_or_else(|| Usage::estimate(turn.prompt.chars().count(), answer_chars));
        cleanup.process = Some(Process { after, ..process });
        (Ended { outcome, usage, usage_estimated: reported.is_none() }, may_retry)
    }

    /// Reports that the model is tried, with the ref of its worktree once that is there.
    async fn report(&self, attempt: &Attempt<'_>, reference: Option<String>) -> Result<(), KillReason> {
        attempt.send(Step::Trying { model: attempt.model.name.clone(), reference }).await
    }
}
