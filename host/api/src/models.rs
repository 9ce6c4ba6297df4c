//! `GET /v1/models` and `GET /v1/models/{id}`: the models.
//!
//! The path belongs to three APIs. One form satisfies the clients of OpenAI and Anthropic, and only Anthropic's ask for pages; a
//! client of Gemini gets the form of its own. An id may contain slashes and colons.

use agentbay_domain::{Model, Target};
use agentbay_wire::models::{ModelEntry, ModelList, Page};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};

use super::error::ApiError;
use super::path::Name;
use super::surface::Surface;
use super::{AppState, gemini};

/// All models, sorted by name, or a page of them.
pub(super) async fn list(state: State<AppState>, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    let page = match Surface::of(uri.path(), &headers) {
        Surface::Gemini => return Ok(gemini::models::list(state).await.into_response()),
        Surface::Anthropic => Page::parse(uri.query().unwrap_or_default())?,
        Surface::OpenAi => Page::default(),
    };
    let models: Vec<ModelEntry> = state.snapshots.newest().models.values().map(|model| entry(model)).collect();
    Ok(Json(ModelList::page(&models, &page)?).into_response())
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
    Ok(Json(entry(model)).into_response())
}

fn entry(model: &Model) -> ModelEntry {
    let Target::Cli(cli) = &model.target;
    ModelEntry::new(&model.name, &cli.driver.to_string())
}
