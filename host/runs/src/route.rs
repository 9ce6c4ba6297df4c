//! From a model's name to the driver and the repository behind it, and to those of the models that may stand in for it, as
//! they are in one snapshot.
//!
//! Nothing else of the snapshot is kept: a run that goes on for hours does not keep the old code of other plugins.

use std::sync::Arc;

use agentbay_domain::{Limits, Model, OwnAddress};
use agentbay_plugin_host::Driver;

use super::error::{MissingPlugin, UnknownModel};
use super::snapshot::Snapshot;

/// Where a request goes.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) model: Arc<Model>,
    pub(super) driver: Result<Arc<Driver>, MissingPlugin>,
    pub(super) limits: Limits,
    /// Where the server can be reached itself, if there is one.
    pub(super) own: Option<OwnAddress>,
    /// The models that may stand in for the model, and have none themselves.
    fallbacks: Vec<Self>,
}

/// Looks the model up.
///
/// # Errors
/// No model has the name.
pub(super) fn route(snapshot: &Snapshot, name: &str) -> Result<Route, UnknownModel> {
    let Some(model) = snapshot.models.get(name) else { return Err(UnknownModel { model: name.to_owned() }) };
    let fallbacks = model.fallback.iter().filter_map(|name| snapshot.models.get(name));
    let fallbacks = fallbacks.map(|model| Route::to(model, snapshot)).collect();
    Ok(Route { fallbacks, ..Route::to(model, snapshot) })
}

impl Route {
    fn to(model: &Arc<Model>, snapshot: &Snapshot) -> Self {
        let driver = snapshot.driver(&model.driver).cloned();
        Self {
            model: Arc::clone(model),
            driver: driver.ok_or_else(|| MissingPlugin::of(model, &snapshot.plugins)),
            limits: snapshot.limits,
            own: snapshot.own.clone(),
            fallbacks: Vec::new(),
        }
    }

    /// This one, and those of the models that may stand in for its model. A session can only be resumed by the CLI
    /// whose it is.
    pub(super) fn with_fallbacks(&self, resumes: bool) -> Vec<&Self> {
        let able = self.fallbacks.iter().filter(|other| !resumes || other.model.driver == self.model.driver);
        std::iter::once(self).chain(able).collect()
    }
}
