//! How long a run lasts, and the failure that reports why it ended early.

use agentbay_domain::{Category, Failure, KillReason, Model};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::feed::Writer;

/// A run lasts while a client listens, it is not cancelled and the server is not stopping.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunScope<'a> {
    pub(super) writer: &'a Writer,
    pub(super) cancelled: &'a CancellationToken,
    pub(super) stopping: &'a CancellationToken,
}

impl RunScope<'_> {
    /// Waits until the run has to end, and returns why.
    pub(super) async fn ended(self) -> KillReason {
        tokio::select! {
            () = self.writer.abandoned() => KillReason::Cancelled,
            () = self.cancelled.cancelled() => KillReason::Cancelled,
            () = self.stopping.cancelled() => KillReason::Shutdown,
        }
    }

    /// Waits until the run has to end or its time is up, and returns which.
    pub(super) async fn ended_or(self, deadline: Instant) -> KillReason {
        tokio::select! {
            biased;
            reason = self.ended() => reason,
            () = sleep_until(deadline) => KillReason::Timeout,
        }
    }

    /// Waits for a future while the run lasts.
    pub(super) async fn run<T>(self, future: impl Future<Output = T>) -> Result<T, KillReason> {
        tokio::select! {
            biased;
            reason = self.ended() => Err(reason),
            result = future => Ok(result),
        }
    }

    /// Waits for a future while the run lasts and has time.
    pub(super) async fn run_until<T>(
        self,
        deadline: Instant,
        future: impl Future<Output = T>,
    ) -> Result<T, KillReason> {
        tokio::select! {
            biased;
            reason = self.ended_or(deadline) => Err(reason),
            result = future => Ok(result),
        }
    }
}

/// The failure of a run that the host ended.
pub(super) fn interruption(reason: KillReason, model: &Model) -> Failure {
    let (timeout, idle) = (humantime::format_duration(model.timeout), humantime::format_duration(model.idle_timeout));
    match reason {
        KillReason::Cancelled => Failure::new(Category::Unknown, "the run was cancelled", ""),
        KillReason::Timeout => {
            let message = format!(
                "the run took longer than {timeout} and was ended: raise `timeout` of the model if it needs more"
            );
            Failure::new(Category::Timeout, message, "")
        }
        KillReason::Idle => {
            let message = format!(
                "the CLI printed nothing for {idle} and was ended: raise `idle_timeout` of the model if it needs more"
            );
            Failure::new(Category::Timeout, message, "")
        }
        KillReason::OutputLimit => {
            let message = format!(
                "the CLI printed more than {} bytes and was ended: raise `limits.output` if it needs more",
                model.limits.output
            );
            Failure::new(Category::Unknown, message, "")
        }
        KillReason::Shutdown => Failure::new(Category::Server, "the proxy is stopping", ""),
    }
}
