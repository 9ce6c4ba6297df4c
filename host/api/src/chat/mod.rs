//! `POST /v1/chat/completions`: the Chat Completions surface of the OpenAI API, whole or streamed.
//!
//! `stream` and `whole` make the two kinds of answer out of what comes of the run. What is read and written stands in
//! `agentbay_wire::chat`.

mod stream;
mod whole;

use agentbay_runs::{Request, Run};
use agentbay_wire::chat::{ChatRequest, Heading, decode};
use axum::body::Body;
use axum::extract::State as FromState;
use axum::http::HeaderMap;
use axum::response::Response;

use super::State;
use super::body;
use super::claim;
use super::error::ApiError;
use super::head;

/// Runs the model's agent and answers with what it says.
pub(super) async fn completions(
    FromState(state): FromState<State>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let limits = state.snapshots.newest().limits.http;
    let session = head::wanted_session(&headers)?;
    let body = body::read(body, limits.body).await?;
    let identity = claim::of(&headers, &body);
    let ChatRequest { model, conversation, stream } = decode(&body)?;
    drop(body);
    let request = Request { model: model.clone(), conversation, partial: stream.is_some(), session };
    let run = state.runner.start(request, Some(identity))?;
    let heading = heading(&run, model);
    Ok(match stream {
        Some(options) => stream::answer(run, heading, options, limits).await,
        None => whole::answer(run, heading).await,
    })
}

fn heading(run: &Run, model: String) -> Heading {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Heading { id: format!("chatcmpl-{}", run.id()), created: now.as_secs(), model }
}
