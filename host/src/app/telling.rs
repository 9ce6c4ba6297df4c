//! Keeps what the server tells other programs up to date.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;

use crate::plugin::{Snapshots, Trouble};
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
    pub(super) trouble: Trouble,
}

impl Telling {
    /// Tells how things are now, and whenever that changes, for ever.
    pub(super) async fn go_on(self) {
        loop {
            let plugins = InUse::all(&self.snapshots.newest().plugins);
            let status = Status { listen: self.listen, dir: self.dir.clone(), plugins };
            if let Err(error) = self.board.tell(&status) {
                tracing::warn!(%error, "cannot tell other programs how plugins fare");
            }
            sleep(PAUSE).await;
            tokio::select! {
                () = self.snapshots.published() => {}
                () = self.trouble.told() => {}
            }
        }
    }
}
