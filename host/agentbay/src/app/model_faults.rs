//! Reasons why models cannot run, in the log of a server: each once, and again when it returns.

use std::collections::BTreeSet;

use agentbay_runs::doctor::Examined;

/// The faults that are logged already.
#[derive(Debug, Default)]
pub(super) struct ModelFaults(BTreeSet<String>);

impl ModelFaults {
    /// Logs the new faults of these models, which are all.
    pub(super) fn log_new(&mut self, examined: &[Examined]) {
        let faults: BTreeSet<String> =
            examined.iter().flat_map(|model| &model.faults).map(ToString::to_string).collect();
        for fault in faults.difference(&self.0) {
            tracing::warn!("a model cannot run: {fault}");
        }
        self.0 = faults;
    }
}
