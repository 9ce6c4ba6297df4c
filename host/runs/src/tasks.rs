//! The tasks of the process: starts them, stops them and waits for them.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Starts a task that its owner does not wait for. It is dropped with the handle.
#[expect(clippy::disallowed_methods, reason = "this is where tasks are started")]
pub(crate) fn beside<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> AbortOnDropHandle<T> {
    AbortOnDropHandle::new(tokio::spawn(task))
}

/// The tasks of the process. A clone shares them.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Starts a task. It is expected to end soon after [`Tasks::stopping`] is cancelled.
    #[expect(clippy::disallowed_methods, reason = "this is where tasks are started")]
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(self.tracker.track_future(task));
    }

    /// Starts a task that does not end by itself: it is dropped when the process stops.
    pub fn spawn_until_stopped(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.stopping();
        self.spawn(async move {
            tokio::select! {
                () = task => {}
                () = stopping.cancelled() => {}
            }
        });
    }

    /// Cancelled when the process stops.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Stops all tasks and waits for them, at most `patience`. Returns whether all have ended.
    pub async fn stop(&self, patience: Duration) -> bool {
        self.stop.cancel();
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}
