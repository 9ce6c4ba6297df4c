//! `POST /v1/chat/completions`: the Chat Completions surface of the OpenAI API, whole or streamed.
//!
//! `decode` makes a request of a body, a `message` and a `part` at a time; `stream` and `whole` make the two kinds of answer
//! out of what comes of the run; `wire` holds what they write.

mod choice;
mod decode;
mod message;
mod paragraphs;
mod part;
mod stream;
mod whole;
mod wire;

use axum::body::Body;
use axum::extract::State as FromState;
use axum::http::HeaderMap;
use axum::response::Response;

use super::State;
use super::body;
use super::claim;
use super::error::ApiError;
use super::head;
use super::mend;
use crate::run::Run;
use decode::Decoded;
use wire::Heading;

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
    let Decoded { request, stream } = decode::decode(mend::json(&body)?.value(), session)?;
    drop(body);
    let model = request.model.clone();
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
