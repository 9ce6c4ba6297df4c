//! `POST /v1/chat/completions`: the Chat Completions surface of the OpenAI API, whole or streamed.
//!
//! `stream` and `whole` encode the two kinds of answer. The wire types are in `agentbay_wire::chat`.

mod stream;
mod whole;

use agentbay_runs::{Request, Run};
use agentbay_wire::chat::{ChatRequest, CompletionMeta, decode};
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::chores::{self, Started};
use super::error::ApiError;
use super::{AppState, answer, body, request_identity, run_headers, sse};
use stream::Chunks;
use whole::Whole;

/// Runs the agent of the model, and answers with its output.
pub(super) async fn completions(
    State(state): State<AppState>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let limits = state.snapshots.newest().limits.http;
    let session = run_headers::session_header(&headers)?;
    let body = body::read(body, limits.body).await?;
    let identity = request_identity::of(&headers, &body);
    let ChatRequest { model, conversation, ask, call, stream, ignored } = decode(&body)?;
    let request = Request { model: model.clone(), conversation, ask, partial: stream.is_some(), session };
    let Started { run, chore } = chores::start(&state, &headers, &body, request, identity)?;
    drop(body);
    let meta = meta(&run, model);
    let mut response = match stream {
        Some(options) => answer::stream(run, Chunks { meta, options, call }, sse::HEADERS, limits).await,
        None => answer::whole(run, Whole { meta, call }, limits).await,
    };
    run_headers::apply_ignored(&ignored, response.headers_mut());
    Ok(chores::name_in(response, chore))
}

fn meta(run: &Run, model: String) -> CompletionMeta {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    CompletionMeta { id: format!("chatcmpl-{}", run.id()), created: now.as_secs(), model }
}
