//! Keeps what the server tells other programs up to date.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agentbay_plugin_host::FailureSignal;
use agentbay_runs::Snapshots;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::status::{Board, InUse, Status};

/// A plugin that fails on and on is not written about on and on.
const PAUSE: Duration = Duration::from_secs(1);

/// What is told, and what calls for it to be told anew.
#[derive(Debug)]
pub(super) struct Telling {
    pub(super) board: Board,
    pub(super) listen: SocketAddr,
    pub(super) dir: PathBuf,
    pub(super) snapshots: Snapshots,
    pub(super) trouble: FailureSignal,
}

impl Telling {
    /// Tells how things are now, and whenever that changes, for ever.
    pub(super) async fn go_on(self) {
        let Self { board, listen, dir, snapshots, trouble } = self;
        let board = Arc::new(board);
        loop {
            let plugins = InUse::all(&snapshots.newest().plugins);
            let (board, status) = (Arc::clone(&board), Status { listen, dir: dir.clone(), plugins });
            // Off the threads that serve: a busy disk takes its time.
            let written = spawn_blocking(move || board.tell(&status)).await;
            if let Err(error) = written.unwrap_or_else(|lost| Err(lost.into())) {
                tracing::warn!(%error, "cannot tell other programs how plugins fare");
            }
            sleep(PAUSE).await;
            tokio::select! {
                () = snapshots.published() => {}
                () = trouble.wait() => {}
            }
        }
    }
}
