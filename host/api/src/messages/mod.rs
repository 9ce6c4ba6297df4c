//! `POST /v1/messages`: the Messages surface of the Anthropic API, whole or streamed. `POST /v1/messages/count_tokens`: the
//! estimated tokens of a request, without a run.
//!
//! `stream` and `whole` encode the two kinds of answer. The wire types are in `agentbay_wire::messages`.

mod stream;
#[cfg(test)]
mod tests;
mod whole;

use agentbay_runs::{Identity, Request, UnknownModel};
use agentbay_wire::messages::{
    Call, CountRequest, MessageMeta, MessagesRequest, Question, TokenCount, decode, decode_count,
};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::chores::{self, Started};
use super::error::ApiError;
use super::{AppState, answer, body, request_identity, run_headers, sse};
use stream::Events;
use whole::WholeMessage;

/// Runs the agent of the model, and answers with its output.
pub(super) async fn create(
    State(state): State<AppState>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let limits = state.snapshots.newest().limits.http;
    let session = run_headers::session_header(&headers)?;
    let body = body::read(body, limits.body).await?;
    let identity = identity(&headers, &body);
    let decoded = decode(&body)?;
    let MessagesRequest { model, conversation, ask, call, stream, thinking, input_tokens, ignored } = decoded;
    let request = Request { model: model.clone(), conversation, ask, partial: stream, session };
    let Started { run, chore } = chores::start(&state, &headers, &body, request, identity)?;
    drop(body);
    let meta = MessageMeta { id: format!("msg_{}", run.id()), model };
    let call = call.map(|name| Call { id: format!("toolu_{}", run.id()), name });
    let mut response = if stream {
        answer::stream(run, Events::new(meta, call, thinking, input_tokens), sse::HEADERS, limits).await
    } else {
        answer::whole(run, WholeMessage { meta, call, thinking }, limits).await
    };
    run_headers::apply_ignored(&ignored, response.headers_mut());
    Ok(chores::name_in(response, chore))
}

fn identity(headers: &HeaderMap, body: &[u8]) -> Identity {
    let question = Question::read(body);
    let parts = question.as_ref().map(Question::parts).unwrap_or_default();
    request_identity::of_question(headers, body, &parts.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

/// Answers with the estimated tokens of a request.
pub(super) async fn count_tokens(State(state): State<AppState>, body: Body) -> Result<Json<TokenCount>, ApiError> {
    let snapshot = state.snapshots.newest();
    let body = body::read(body, snapshot.limits.http.body).await?;
    let CountRequest { model, input_tokens } = decode_count(&body)?;
    if snapshot.models.contains_key(&model) {
        Ok(Json(TokenCount { input_tokens }))
    } else {
        Err(UnknownModel { model }.into())
    }
}
