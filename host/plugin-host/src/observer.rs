//! Who counts what plugins do. What becomes of the counts is not known here.

use std::fmt;
use std::sync::Arc;

use agentbay_domain::PluginId;

/// Counts what plugins do.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A version of a plugin has come into memory.
    fn version_loaded(&self, plugin: &PluginId);
    /// A version of a plugin has left memory.
    fn version_dropped(&self, plugin: &PluginId);
    /// A plugin failed in a call.
    fn plugin_trapped(&self, plugin: &PluginId);
}

/// Counts nothing.
impl Observer for () {
    fn version_loaded(&self, _plugin: &PluginId) {}
    fn version_dropped(&self, _plugin: &PluginId) {}
    fn plugin_trapped(&self, _plugin: &PluginId) {}
}

/// A version of a plugin, counted as long as it is there.
#[derive(Debug)]
pub(super) struct Version {
    plugin: PluginId,
    observer: Arc<dyn Observer>,
}

impl Version {
    pub(super) fn loaded(plugin: PluginId, observer: Arc<dyn Observer>) -> Self {
        observer.version_loaded(&plugin);
        Self { plugin, observer }
    }

    pub(super) fn plugin(&self) -> &PluginId {
        &self.plugin
    }

    pub(super) fn trapped(&self) {
        self.observer.plugin_trapped(&self.plugin);
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        self.observer.version_dropped(&self.plugin);
    }
}
