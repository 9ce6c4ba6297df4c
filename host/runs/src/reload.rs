//! Reload requests and their reports. `app::reload` of the binary carries them out.

use std::mem;
use std::path::PathBuf;
use std::sync::Arc;

use agentbay_domain::PluginId;
use agentbay_plugin_host::Refusal;
use tokio::sync::{mpsc, oneshot};

/// The number of requests that may be pending; more wait.
const PENDING: usize = 64;

/// The result of a reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReloadReport {
    /// The generation of the published snapshot.
    pub generation: u64,
    /// The plugins in use.
    pub plugins: Vec<PluginId>,
    /// The files that were refused.
    pub refused: Vec<Refusal>,
    /// The files that are still being loaded. Another reload follows when one is done.
    pub loading: Vec<PathBuf>,
    /// The faults of the settings. If there are any, the old settings stay in use.
    pub faults: Vec<String>,
}

/// Requests reloads. A clone requests them of the same server.
#[derive(Debug, Clone)]
pub struct ReloadHandle(mpsc::Sender<Waiter>);

/// The requests, for the task that reloads.
#[derive(Debug)]
pub struct ReloadRequests {
    incoming: mpsc::Receiver<Waiter>,
    received: Vec<Waiter>,
}

/// The requests that a reload that starts now answers.
#[derive(Debug)]
pub struct Waiters(Vec<Waiter>);

type Waiter = oneshot::Sender<Arc<ReloadReport>>;

/// The two ends.
pub fn channel() -> (ReloadHandle, ReloadRequests) {
    let (requests, incoming) = mpsc::channel(PENDING);
    (ReloadHandle(requests), ReloadRequests { incoming, received: Vec::new() })
}

impl ReloadHandle {
    /// Requests a reload that starts after this call, and waits for its report. `None` if the process stops.
    pub async fn reload(&self) -> Option<Arc<ReloadReport>> {
        let (waiter, report) = oneshot::channel();
        self.0.send(waiter).await.ok()?;
        report.await.ok()
    }
}

impl ReloadRequests {
    /// Waits for a request. No request is lost if the future is dropped.
    pub async fn recv(&mut self) {
        match self.incoming.recv().await {
            Some(waiter) => self.received.push(waiter),
            None => std::future::pending().await,
        }
    }

    /// All requests until now: one reload answers all of them.
    pub fn take(&mut self) -> Waiters {
        while let Ok(waiter) = self.incoming.try_recv() {
            self.received.push(waiter);
        }
        Waiters(mem::take(&mut self.received))
    }
}

impl Waiters {
    /// Sends them the report.
    pub fn send(self, report: ReloadReport) {
        let report = Arc::new(report);
        for waiter in self.0 {
            // A client that has disconnected needs no report.
            let _disconnected = waiter.send(Arc::clone(&report));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(generation: u64) -> ReloadReport {
        ReloadReport { generation, plugins: Vec::new(), refused: Vec::new(), loading: Vec::new(), faults: Vec::new() }
    }

    #[tokio::test]
    async fn a_reload_answers_all_earlier_requests_and_the_next_one_the_later_ones() {
        let (handle, mut requests) = channel();
        let reloads = async {
            requests.recv().await;
            let first = requests.take();
            let late = handle.reload();
            first.send(report(1));
            let next = async {
                requests.recv().await;
                requests.take().send(report(2));
            };
            tokio::join!(late, next).0
        };
        let (one, other, late) = tokio::join!(handle.reload(), handle.reload(), reloads);
        assert_eq!(
            [one, other, late].map(|report| report.map(|report| report.generation)),
            [Some(1), Some(1), Some(2)]
        );
    }

    #[tokio::test]
    async fn a_request_ends_when_the_server_stops() {
        let (handle, mut requests) = channel();
        let stops = async move {
            requests.recv().await;
        };
        assert_eq!(tokio::join!(handle.reload(), stops).0, None);
        assert_eq!(handle.reload().await, None);
    }
}
