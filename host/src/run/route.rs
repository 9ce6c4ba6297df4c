//! From a model's name to the driver and the repository behind it, as they are in one snapshot.

use std::sync::Arc;

use super::error::UnknownModel;
use crate::domain::Model;
use crate::plugin::Snapshot;

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
