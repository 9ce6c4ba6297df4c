//! `/v1/conversations`: items that stand before the input of the responses that belong to them.

use agentbay_wire::responses::{Conversation, Deleted, ItemList, Page};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use super::now;
use super::store::Content;
use crate::credential::Owner;
use crate::error::ApiError;
use crate::path::Name;
use crate::{AppState, body};

/// Creates a conversation.
pub(crate) async fn create(State(state): State<AppState>, owner: Owner, body: Body) -> Result<Response, ApiError> {
    let body = body::read(body, state.snapshots.newest().limits.http.body).await?;
    let conversation = Conversation::decode(&body, now())?;
    let id = format!("conv_{}", Uuid::now_v7().simple());
    let answer = Json(conversation.object(&id)).into_response();
    let limits = state.snapshots.newest().limits.store;
    state.responses.put(owner, id, Content::Conversation(conversation), limits);
    Ok(answer)
}

/// A conversation.
pub(crate) async fn one(State(state): State<AppState>, Name(id): Name, owner: Owner) -> Result<Response, ApiError> {
    Ok(Json(found(&state, &id, &owner)?.object(&id)).into_response())
}

/// Forgets a conversation. Its responses stay.
pub(crate) async fn delete(State(state): State<AppState>, Name(id): Name, owner: Owner) -> Result<Response, ApiError> {
    found(&state, &id, &owner)?;
    state.responses.remove(&owner, &id);
    Ok(Json(Deleted { id: &id, object: "conversation.deleted", deleted: true }).into_response())
}

/// The items of a conversation.
pub(crate) async fn items(
    State(state): State<AppState>,
    Name(id): Name,
    owner: Owner,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = Page::of(uri.query().unwrap_or_default())?;
    let items = found(&state, &id, &owner)?.items;
    Ok(Json(ItemList::of(&items, &id, &page)).into_response())
}

fn found(state: &AppState, id: &str, owner: &Owner) -> Result<Conversation, ApiError> {
    match state.responses.get(owner, id) {
        Some(Content::Conversation(conversation)) => Ok(conversation),
        Some(Content::Response(_) | Content::Background(_)) | None => {
            let message = format!("the conversation `{id}` is not stored: create one with POST /v1/conversations");
            Err(ApiError::refused(StatusCode::NOT_FOUND, "conversation_not_found", None, message))
        }
    }
}
