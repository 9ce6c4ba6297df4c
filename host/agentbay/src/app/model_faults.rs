//! Reasons why models cannot run, in the log of a server: each once, and again when it returns.

use std::collections::BTreeSet;
use std::time::Duration;

use agentbay_domain::Environment;
use agentbay_runs::Snapshots;
use agentbay_runs::doctor::examine;
use tokio::time::timeout;

/// The longest examination: a repository may be on a file system that does not respond.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The faults that are logged already.
#[derive(Debug, Default)]
pub(super) struct ModelFaults(BTreeSet<String>);

impl ModelFaults {
    /// Examines all models of the newest snapshot, and logs new faults.
    pub(super) async fn log_new(&mut self, snapshots: &Snapshots, environment: &Environment) {
        let snapshot = snapshots.newest();
        let Ok(examined) = timeout(TIMEOUT, examine(&snapshot, environment, None)).await else {
            tracing::warn!("cannot examine the models: their repositories or programs do not respond");
            return;
        };
        let faults: BTreeSet<String> =
            examined.into_iter().flat_map(|model| model.faults).map(|fault| fault.to_string()).collect();
        for fault in faults.difference(&self.0) {
            tracing::warn!("a model cannot run: {fault}");
        }
        self.0 = faults;
    }
}
