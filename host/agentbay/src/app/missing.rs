//! What keeps models from running, said in the log of a server: once for each thing, and again when it comes back.

use std::collections::BTreeSet;
use std::time::Duration;

use agentbay_domain::Environment;
use agentbay_runs::Snapshots;
use agentbay_runs::doctor::examine;
use tokio::time::timeout;

/// A repository may be on a file system that does not answer. Nothing waits for longer than this.
const PATIENCE: Duration = Duration::from_secs(10);

/// What has been said already.
#[derive(Debug, Default)]
pub(super) struct Missing(BTreeSet<String>);

impl Missing {
    /// Looks at all models of the newest snapshot, and says what is new.
    pub(super) async fn tell(&mut self, snapshots: &Snapshots, host: &Environment) {
        let snapshot = snapshots.newest();
        let Ok(examined) = timeout(PATIENCE, examine(&snapshot, host, None)).await else {
            tracing::warn!("cannot find out whether the models can run: their repositories or programs do not answer");
            return;
        };
        let faults: BTreeSet<String> = examined.into_iter().flat_map(|model| model.faults).collect();
        for fault in faults.difference(&self.0) {
            tracing::warn!("a model cannot run: {fault}");
        }
        self.0 = faults;
    }
}
