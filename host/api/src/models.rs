//! `GET /v1/models` and `GET /v1/models/{id}`: the models.
//!
//! The form is that of the OpenAI API; a client of the Gemini API, which is known by a header, gets that of its own. An id may
//! contain slashes and colons.

use agentbay_domain::{Model, Target};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::error::ApiError;
use super::path::Name;
use super::surface::Surface;
use super::{AppState, gemini};

/// A list of models.
#[derive(Debug, Serialize)]
pub(super) struct ModelList {
    object: &'static str,
    data: Vec<ModelEntry>,
}

/// One model.
#[derive(Debug, Serialize)]
pub(super) struct ModelEntry {
    id: String,
    object: &'static str,
    created: u64,
    owned_by: String,
}

impl From<&Model> for ModelEntry {
    fn from(model: &Model) -> Self {
        let Target::Cli(cli) = &model.target;
        // A configured model has no date of creation; clients expect a number all the same.
        Self { id: model.name.clone(), object: "model", created: 0, owned_by: cli.driver.to_string() }
    }
}

/// All models, sorted by name.
pub(super) async fn list(state: State<AppState>, uri: Uri, headers: HeaderMap) -> Response {
    match Surface::of(uri.path(), &headers) {
        Surface::Gemini => gemini::models::list(state).await.into_response(),
        Surface::OpenAi | Surface::Anthropic => all(&state).into_response(),
    }
}

fn all(state: &AppState) -> Json<ModelList> {
    let snapshot = state.snapshots.newest();
    let data = snapshot.models.values().map(|model| ModelEntry::from(model.as_ref())).collect();
    Json(ModelList { object: "list", data })
}

/// One model.
pub(super) async fn one(
    state: State<AppState>,
    Name(id): Name,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if Surface::of(uri.path(), &headers) == Surface::Gemini {
        return Ok(gemini::models::one(state, Name(id)).await?.into_response());
    }
    let snapshot = state.snapshots.newest();
    let model = snapshot.models.get(&id).ok_or_else(|| ApiError::no_such_model(&id))?;
    Ok(Json(ModelEntry::from(model.as_ref())).into_response())
}
