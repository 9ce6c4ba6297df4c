//! What stands behind the models that name a driver: its plugin, and what that may do and use.

use std::fmt;
use std::sync::Arc;

use agentbay_domain::{Authority, PluginLimits};

use super::load::LoadedPlugin;

/// A plugin, with what it may do and use.
pub struct Driver {
    /// The plugin.
    pub plugin: Arc<LoadedPlugin>,
    /// What its plans may do.
    pub authority: Authority,
    /// What it may use in a run.
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
