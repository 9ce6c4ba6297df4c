//! From a model's name to the model, its backend and those of its fallbacks, as one snapshot has them.
//!
//! A route keeps nothing else of the snapshot: a run of hours does not keep the old code of other plugins in memory.

use std::sync::Arc;

use agentbay_domain::{Limits, Model};

use super::backend::Backend;
use super::error::UnknownModel;
use super::snapshot::Snapshot;

/// What serves a request.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) model: Arc<Model>,
    pub(super) backend: Backend,
    pub(super) limits: Limits,
    /// The routes of the model's fallbacks, which have none themselves.
    fallbacks: Vec<Self>,
}

/// Finds the model.
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
        Self {
            model: Arc::clone(model),
            backend: Backend::of(model, snapshot),
            limits: snapshot.limits,
            fallbacks: Vec::new(),
        }
    }

    /// This route, then those of the fallbacks. Only the driver that created a session can resume it.
    pub(super) fn with_fallbacks(&self, resumes: bool) -> Vec<&Self> {
        let able = self.fallbacks.iter().filter(|other| !resumes || other.backend.shares_sessions_with(&self.backend));
        std::iter::once(self).chain(able).collect()
    }
}
