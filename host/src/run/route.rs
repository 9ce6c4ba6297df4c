//! From a model's name to the driver and the repository behind it, as they are in one snapshot.

use std::sync::Arc;

use super::error::{RunError, UnknownModel};
use crate::domain::{Model, PluginLimits};
use crate::plugin::{LoadedPlugin, Snapshot};

/// Where a request goes.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) model: Arc<Model>,
}

/// Looks the model up.
///
/// # Errors
/// No model has the name.
pub(super) fn route(snapshot: Arc<Snapshot>, name: &str) -> Result<Route, UnknownModel> {
    match snapshot.models.get(name).map(Arc::clone) {
        Some(model) => Ok(Route { snapshot, model }),
        None => Err(UnknownModel { model: name.to_owned() }),
    }
}

impl Route {
    /// This one, and those of the models that may stand in for its model. A session can only be resumed by the CLI
    /// whose it is.
    pub(super) fn with_fallbacks(&self, resumes: bool) -> Vec<Self> {
        let others = self.model.fallback.iter().filter_map(|name| route(Arc::clone(&self.snapshot), name).ok());
        let able = others.filter(|other| !resumes || other.model.driver == self.model.driver);
        std::iter::once(self.clone()).chain(able).collect()
    }

    pub(super) fn plugin(&self) -> Option<&LoadedPlugin> {
        self.snapshot.plugin(&self.model.driver).map(AsRef::as_ref)
    }

    /// What the plugin may use.
    pub(super) fn plugin_limits(&self) -> &PluginLimits {
        self.snapshot.plugin_limits(&self.model.driver)
    }

    pub(super) fn missing_plugin(&self) -> RunError {
        RunError::missing_plugin(&self.model.name, &self.model.driver, &self.snapshot.plugins)
    }
}
