//! `GET /v1/models` and `GET /v1/models/{id}`: which models there are.
//!
//! The form is that of the OpenAI API. An id may have slashes and colons in it.

use agentbay_domain::{Model, Target};
use axum::Json;
use axum::extract::State as FromState;
use serde::Serialize;

use super::State;
use super::error::ApiError;
use super::path::Name;

/// A list of models.
#[derive(Debug, Serialize)]
pub(super) struct List {
    object: &'static str,
    data: Vec<Entry>,
}

/// One model.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    id: String,
    object: &'static str,
    created: u64,
    owned_by: String,
}

impl From<&Model> for Entry {
    fn from(model: &Model) -> Self {
        // Nobody knows when a model of a configuration was made; clients want a number all the same.
        let Target::Cli(cli) = &model.target;
        Self { id: model.name.clone(), object: "model", created: 0, owned_by: cli.driver.to_string() }
    }
}

/// All models, in the order of their names.
pub(super) async fn list(FromState(state): FromState<State>) -> Json<List> {
    let snapshot = state.snapshots.newest();
    let data = snapshot.models.values().map(|model| Entry::from(model.as_ref())).collect();
    Json(List { object: "list", data })
}

/// One model.
pub(super) async fn one(FromState(state): FromState<State>, Name(id): Name) -> Result<Json<Entry>, ApiError> {
    let snapshot = state.snapshots.newest();
    let model = snapshot.models.get(&id).ok_or_else(|| ApiError::no_such_model(&id))?;
    Ok(Json(Entry::from(model.as_ref())))
}
