//! Plugins, models and settings at one moment. A request takes the snapshot once and keeps it to its end.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentbay_domain::{Access, Limits, Model, PluginId, ServerAddress};
use agentbay_plugin_host::{Driver, PluginSet};
use arc_swap::ArcSwap;
use tokio::sync::Notify;

/// Plugins, models and settings that belong together.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Counts up with each snapshot.
    pub generation: u64,
    /// The plugins in use.
    pub plugins: PluginSet,
    /// The models that clients can name.
    pub models: BTreeMap<String, Arc<Model>>,
    /// Who may use the server.
    pub access: Access,
    /// The address of the server itself, if there is one.
    pub own: Option<ServerAddress>,
    /// The limits.
    pub limits: Limits,
    /// The number of plugins that were added, removed or replaced since the first snapshot. Set when it is published.
    pub swaps: u64,
}

impl Snapshot {
    /// The driver of this name.
    pub fn driver(&self, id: &PluginId) -> Option<&Arc<Driver>> {
        self.plugins.drivers.get(id)
    }
}

/// The pointer to the newest snapshot. A clone is the same pointer.
#[derive(Debug, Clone, Default)]
pub struct Snapshots(Arc<Newest>);

#[derive(Debug, Default)]
struct Newest {
    snapshot: ArcSwap<Snapshot>,
    published: Notify,
}

impl Snapshots {
    /// The newest snapshot.
    pub fn newest(&self) -> Arc<Snapshot> {
        self.0.snapshot.load_full()
    }

    /// Replaces the newest snapshot.
    pub fn publish(&self, mut snapshot: Snapshot) {
        let before = self.newest();
        if before.generation > 0 {
            snapshot.swaps = before.swaps + swapped(&before.plugins, &snapshot.plugins);
        }
        self.0.snapshot.store(Arc::new(snapshot));
        self.0.published.notify_one();
    }

    /// Waits until another one is published. One that is published while nothing waits wakes the next call.
    pub async fn published(&self) {
        self.0.published.notified().await;
    }
}

/// The number of plugins that differ.
fn swapped(before: &PluginSet, now: &PluginSet) -> u64 {
    let hash = |set: &PluginSet, id: &PluginId| set.drivers.get(id).map(|driver| driver.plugin.sha256());
    let gone = before.drivers.keys().filter(|id| hash(now, id).is_none()).count();
    let other = now.drivers.keys().filter(|id| hash(now, id) != hash(before, id)).count();
    (gone + other) as u64
}
