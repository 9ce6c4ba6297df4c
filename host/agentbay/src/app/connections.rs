//! The connections of clients: their number, and the time to send the head of a request. Requests are answered by the router.
//!
//! `axum::serve` has neither limit. Without them, silent sockets use up the file descriptors of the process before any key is
//! checked.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::ConnectionLimits;
use agentbay_runs::Tasks;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The pause after the system refused to accept a connection, for example because too many files are open.
const PAUSE: Duration = Duration::from_secs(1);

/// The listener and its limits.
pub(super) struct Connections {
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    slots: Arc<Semaphore>,
    tasks: Tasks,
}

impl Connections {
    pub(super) fn new(listener: TcpListener, router: Router, limits: ConnectionLimits, tasks: Tasks) -> Self {
        let slots = Arc::new(Semaphore::new(limits.max));
        Self { listener, router, limits, slots, tasks }
    }

    /// Serves connections until the process stops. Connections that are open then end after their current answer.
    pub(super) async fn serve(self) {
        let stopping = self.tasks.stopping();
        select! {
            () = self.accept() => {}
            () = stopping.cancelled() => {}
        }
    }

    async fn accept(&self) {
        loop {
            let Some(slot) = self.slot().await else { return };
            match self.listener.accept().await {
                Ok((connection, _)) => self.open(connection, slot),
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "cannot accept connections");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Waits until another connection is allowed.
    async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            return Some(slot);
        }
        tracing::warn!(most = self.limits.max, "`limits.connections` is reached: new connections wait");
        Arc::clone(&self.slots).acquire_owned().await.ok()
    }

    fn open(&self, connection: TcpStream, slot: OwnedSemaphorePermit) {
        // Deltas are small, and each is sent at once.
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "cannot switch off Nagle's algorithm");
        }
        let (router, head, stopping) = (self.router.clone(), self.limits.header_timeout, self.tasks.stopping());
        self.tasks.spawn(async move {
            serve_connection(connection, router, head, stopping).await;
            drop(slot);
        });
    }
}

/// Answers the requests of a connection. The limit on the head also closes an idle connection.
async fn serve_connection(connection: TcpStream, router: Router, head: Duration, stopping: CancellationToken) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head);
    let mut serving = pin!(http.serve_connection(TokioIo::new(connection), TowerToHyperService::new(router)));
    let ended = select! {
        ended = serving.as_mut() => ended,
        () = stopping.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection failed");
    }
}

/// Returns whether the error concerns only a client that disconnected before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
