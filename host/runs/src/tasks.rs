//! The tasks of the process: started here, told to stop here, waited for here.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The tasks of the process. A clone stands for the same tasks.
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

    /// Starts a task that would go on for ever: it is given up when the process is to stop.
    pub fn spawn_until_stopped(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.stopping();
        self.spawn(async move {
            tokio::select! {
                () = task => {}
                () = stopping.cancelled() => {}
            }
        });
    }

    /// Cancelled when the process is to stop.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Tells all tasks to stop and waits for them, but no longer than `patience`. Says whether all have ended.
    pub async fn stop(&self, patience: Duration) -> bool {
        self.stop.cancel();
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}
