//! Keeps the status file of the server up to date.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agentbay_plugin_host::FailureSignal;
use agentbay_runs::Snapshots;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::status::{PluginStatus, ServerStatus, StatusFile};

/// The least time between two writes: a plugin may fail all the time.
const PAUSE: Duration = Duration::from_secs(1);

/// The file, its content, and the events after which it is written again.
#[derive(Debug)]
pub(super) struct StatusWriter {
    pub(super) file: StatusFile,
    pub(super) listen: SocketAddr,
    pub(super) dir: PathBuf,
    pub(super) snapshots: Snapshots,
    pub(super) failures: FailureSignal,
}

impl StatusWriter {
    /// Writes the file now and after each change. Never returns.
    pub(super) async fn run(self) {
        let Self { file, listen, dir, snapshots, failures } = self;
        let file = Arc::new(file);
        loop {
            let plugins = PluginStatus::all(&snapshots.newest().plugins);
            let (file, status) = (Arc::clone(&file), ServerStatus { listen, dir: dir.clone(), plugins });
            // Not on the threads that serve: a busy disk is slow.
            let written = spawn_blocking(move || file.write(&status)).await;
            if let Err(error) = written.unwrap_or_else(|lost| Err(lost.into())) {
                tracing::warn!(%error, "cannot write the status file: `agentbay plugin list` shows old health");
            }
            sleep(PAUSE).await;
            tokio::select! {
                () = snapshots.published() => {}
                () = failures.wait() => {}
            }
        }
    }
}
