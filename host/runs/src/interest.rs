//! Whether anybody still wants a run to go on, and if not, why.

use std::future::Future;

use agentbay_domain::KillReason;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::feed::Writer;

/// What keeps a run going: somebody who listens, nobody who cancelled it, and a host that goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interest<'a> {
    pub(super) writer: &'a Writer,
    pub(super) cancelled: &'a CancellationToken,
    pub(super) stopping: &'a CancellationToken,
}

impl Interest<'_> {
    /// Waits until the run is to end, and says why.
    pub(super) async fn lost(self) -> KillReason {
        tokio::select! {
            () = self.writer.abandoned() => KillReason::Cancelled,
            () = self.cancelled.cancelled() => KillReason::Cancelled,
            () = self.stopping.cancelled() => KillReason::Shutdown,
        }
    }

    /// Waits until the run is to end or its time is up, and says which.
    pub(super) async fn lost_or(self, until: Instant) -> KillReason {
        tokio::select! {
            biased;
            reason = self.lost() => reason,
            () = sleep_until(until) => KillReason::Timeout,
        }
    }

    /// Waits for something for as long as the run is wanted.
    pub(super) async fn during<T>(self, something: impl Future<Output = T>) -> Result<T, KillReason> {
        tokio::select! {
            biased;
            reason = self.lost() => Err(reason),
            result = something => Ok(result),
        }
    }

    /// Waits for something for as long as the run is wanted and has time.
    pub(super) async fn during_until<T>(
        self,
        until: Instant,
        something: impl Future<Output = T>,
    ) -> Result<T, KillReason> {
        tokio::select! {
            biased;
            reason = self.lost_or(until) => Err(reason),
            result = something => Ok(result),
        }
    }
}
