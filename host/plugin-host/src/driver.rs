//! A driver as models use it: the plugin, its authority and its limits.

use std::fmt;
use std::sync::Arc;

use agentbay_domain::{Authority, PluginLimits};

use super::load::LoadedPlugin;

/// A plugin with its authority and limits.
pub struct Driver {
    /// The plugin.
    pub plugin: Arc<LoadedPlugin>,
    /// The authority of its plans.
    pub authority: Authority,
    /// Its limits in a run.
    pub limits: PluginLimits,
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("plugin", &self.plugin)
            .field("authority", &self.authority)
            .finish_non_exhaustive()
    }
}
