//! The connections of clients: how many there may be, and how long one may take to say what it wants. What is answered is
//! the router's.
//!
//! `axum::serve` has neither limit. Without them, sockets on which nothing is said use up the process's files before any
//! key is asked for.

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

/// The wait after the system refused to accept a connection, as it does while too many files are open.
const PAUSE: Duration = Duration::from_secs(1);

/// Where clients connect.
pub(super) struct Connections {
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    places: Arc<Semaphore>,
    tasks: Tasks,
}

impl Connections {
    pub(super) fn new(listener: TcpListener, router: Router, limits: ConnectionLimits, tasks: Tasks) -> Self {
        let places = Arc::new(Semaphore::new(limits.most));
        Self { listener, router, limits, places, tasks }
    }

    /// Serves connections until the process is to stop. Those that are open then are tasks that end after the answer that
    /// they are at.
    pub(super) async fn serve(self) {
        let stopping = self.tasks.stopping();
        select! {
            () = self.accept() => {}
            () = stopping.cancelled() => {}
        }
    }

    async fn accept(&self) {
        loop {
            let Some(place) = self.place().await else { return };
            match self.listener.accept().await {
                Ok((connection, _)) => self.open(connection, place),
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "cannot accept connections");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Waits until there may be another connection.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Some(place);
        }
        tracing::warn!(
            most = self.limits.most,
            "there are as many connections as `limits.connections` allows, others wait"
        );
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    fn open(&self, connection: TcpStream, place: OwnedSemaphorePermit) {
        // Deltas are small, and each is to go out at once.
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "cannot switch off Nagle's algorithm");
        }
        let (router, head, stopping) = (self.router.clone(), self.limits.head, self.tasks.stopping());
        self.tasks.spawn(async move {
            converse(connection, router, head, stopping).await;
            drop(place);
        });
    }
}

/// Answers the requests of a connection. The wait for a request is that for its head: an idle connection is closed too.
async fn converse(connection: TcpStream, router: Router, head: Duration, stopping: CancellationToken) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head);
    let mut conversation = pin!(http.serve_connection(TokioIo::new(connection), TowerToHyperService::new(router)));
    let ended = select! {
        ended = conversation.as_mut() => ended,
        () = stopping.cancelled() => {
            conversation.as_mut().graceful_shutdown();
            conversation.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection has ended");
    }
}

/// The client has gone away before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
