//! `/v1/responses/{id}`: stored responses, their events and input, and the cancellation of one in the background.

use agentbay_wire::responses::{self as wire, Deleted, ItemList, Page, Status, resumed};
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use agentbay_runs::Phase;

use super::log::Log;
use super::resume;
use super::store::{Content, Stored};
use crate::AppState;
use crate::credential::Owner;
use crate::error::ApiError;
use crate::path::Name;

/// A response, or its events.
pub(crate) async fn one(
    State(state): State<AppState>,
    Name(id): Name,
    owner: Owner,
    uri: Uri,
) -> Result<Response, ApiError> {
    let first = resumed(uri.query().unwrap_or_default())?;
    match (found(&state, &id, &owner)?, first) {
        (Found::Ended(stored), None) => Ok(body(&stored)),
        (Found::Background(log), None) => Ok(shown(&state, &log)),
        (Found::Background(log), Some(first)) => {
            Ok(resume::events(log, first, state.snapshots.newest().limits.http.keep_alive))
        }
        (Found::Ended(_), Some(_)) => {
            let message = "only a response with `background` keeps its events: read it without `stream`";
            Err(ApiError::refused(StatusCode::BAD_REQUEST, "events_not_kept", Some("stream"), message))
        }
    }
}

/// Forgets a response. A run in the background ends.
pub(crate) async fn delete(State(state): State<AppState>, Name(id): Name, owner: Owner) -> Result<Response, ApiError> {
    if let Found::Background(log) = found(&state, &id, &owner)? {
        log.cancel();
        state.runner.cancel(log.run);
    }
    state.responses.remove(&owner, &id);
    Ok(Json(Deleted { id: &id, object: "response", deleted: true }).into_response())
}

/// Cancels a response in the background, and answers with it as soon as it has ended.
pub(crate) async fn cancel(State(state): State<AppState>, Name(id): Name, owner: Owner) -> Result<Response, ApiError> {
    let Found::Background(log) = found(&state, &id, &owner)? else {
        let message = "only a response with `background` can be cancelled: to end another one, close its connection";
        return Err(ApiError::refused(StatusCode::BAD_REQUEST, "not_in_background", None, message));
    };
    if log.ended().is_none() {
        log.cancel();
        state.runner.cancel(log.run);
        log.wait().await;
    }
    Ok(shown(&state, &log))
}

/// The input of a response, with what stood before it.
pub(crate) async fn input_items(
    State(state): State<AppState>,
    Name(id): Name,
    owner: Owner,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = Page::of(uri.query().unwrap_or_default())?;
    let items = match found(&state, &id, &owner)? {
        Found::Ended(Stored { mut items, inputs, .. }) => {
            items.truncate(inputs);
            items
        }
        Found::Background(log) => log.input.to_vec(),
    };
    Ok(Json(ItemList::of(&items, &id, &page)).into_response())
}

/// A stored response.
enum Found {
    Ended(Stored),
    Background(Log),
}

fn found(state: &AppState, id: &str, owner: &Owner) -> Result<Found, ApiError> {
    match state.responses.get(owner, id) {
        Some(Content::Response(stored)) => Ok(Found::Ended(stored)),
        Some(Content::Background(log)) => Ok(Found::Background(log)),
        Some(Content::Conversation(_)) | None => {
            let message = format!("the response `{id}` is not stored: it was deleted or forgotten, or never existed");
            Err(ApiError::refused(StatusCode::NOT_FOUND, "response_not_found", None, message))
        }
    }
}

/// A response in the background, as it is now.
pub(super) fn shown(state: &AppState, log: &Log) -> Response {
    if let Some(stored) = log.ended() {
        return body(&stored);
    }
    let is_queued = state.runner.one(log.run).is_some_and(|run| run.phase == Phase::Queued);
    let mut response = wire::Response::clone(&log.response);
    response.set_status(if is_queued { Status::Queued } else { Status::InProgress });
    Json(response).into_response()
}

fn body(stored: &Stored) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], stored.body.clone()).into_response()
}
