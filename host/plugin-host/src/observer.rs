//! The interface through which plugin events are counted.

use std::fmt;
use std::sync::Arc;

use agentbay_domain::PluginId;

/// Counts events of plugins.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A version of a plugin was loaded into memory.
    fn version_loaded(&self, plugin: &PluginId);
    /// A version of a plugin was dropped from memory.
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

/// A version of a plugin in memory, counted until it is dropped.
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
}

impl Drop for Version {
    fn drop(&mut self) {
        self.observer.version_dropped(&self.plugin);
    }
}
