//! `GET /v1beta/models` and `GET /v1beta/models/{id}`: the models in the form of the Gemini API.

use agentbay_domain::{Model, Target};
use agentbay_wire::gemini::{ModelEntry, ModelList};
use axum::Json;
use axum::extract::State;

use super::known_name;
use crate::AppState;
use crate::error::ApiError;
use crate::path::Name;

/// All models, sorted by name.
pub(crate) async fn list(State(state): State<AppState>) -> Json<ModelList> {
    Json(state.snapshots.newest().models.values().map(|model| entry(model)).collect())
}

/// One model.
pub(crate) async fn one(State(state): State<AppState>, Name(id): Name) -> Result<Json<ModelEntry>, ApiError> {
    let name = known_name(&state, &id);
    let snapshot = state.snapshots.newest();
    let model = snapshot.models.get(name).ok_or_else(|| ApiError::no_such_model(name))?;
    Ok(Json(entry(model)))
}

fn entry(model: &Model) -> ModelEntry {
    let Target::Cli(cli) = &model.target;
    ModelEntry::new(&model.name, cli.driver.as_str())
}
