//! `POST /v1beta/models/{model}:{method}` and the same under `/v1`: the REST surface of the Gemini API; `models` has the models.
//!
//! `stream` and `whole` encode the two kinds of answer. The wire types are in `agentbay_wire::gemini`.

pub(super) mod models;
mod stream;
#[cfg(test)]
mod tests;
mod whole;

use agentbay_runs::{Request, Run, UnknownModel};
use agentbay_wire::gemini::{AnswerMeta, GenerateRequest, Method, TokenCount, count_tokens, decode};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};

use super::chores::{self, Started};
use super::error::ApiError;
use super::path::Name;
use super::{AppState, answer, body, request_identity, run_headers};
use stream::{Framing, Pieces};
use whole::Whole;

/// Carries out the method of a model that the path names behind its last colon.
pub(super) async fn call(
    State(state): State<AppState>,
    Name(path): Name,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let (model, method) = Method::split(&path).ok_or_else(|| ApiError::no_method(uri.path()))?;
    let model = known_name(&state, model);
    let body = body::read(body, state.snapshots.newest().limits.http.body).await?;
    match method {
        Method::CountTokens => count(&state, model, &body),
        Method::Generate => generate(&state, model, None, &uri, &headers, body).await,
        Method::Stream => generate(&state, model, Some(Framing::of(&uri)), &uri, &headers, body).await,
    }
}

/// The name of a model, of which clients make `models/NAME`.
fn known_name<'a>(state: &AppState, name: &'a str) -> &'a str {
    match name.strip_prefix("models/") {
        Some(bare) if !state.snapshots.newest().models.contains_key(name) => bare,
        _ => name,
    }
}

/// Runs the agent of the model, and answers with its output: as a stream if it has a framing.
async fn generate(
    state: &AppState,
    model: &str,
    framing: Option<Framing>,
    uri: &Uri,
    headers: &HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let session = run_headers::session_header(headers)?;
    // The body does not name the model, nor whether the answer is streamed.
    let identity = request_identity::of_parts(headers, &[uri.path().as_bytes(), &body]);
    let GenerateRequest { conversation, ask, thoughts, ignored } = decode(&body)?;
    let request = Request { model: model.to_owned(), conversation, ask, partial: framing.is_some(), session };
    let Started { run, chore } = chores::start(state, headers, &body, request, identity)?;
    drop(body);
    let meta = meta(&run, model);
    let limits = state.snapshots.newest().limits.http;
    let mut response = match framing {
        Some(framing) => {
            let headers = framing.headers();
            answer::stream(run, Pieces { meta, thoughts, framing }, headers, limits).await
        }
        None => answer::whole(run, Whole { meta, thoughts }, limits).await,
    };
    run_headers::apply_ignored(&ignored, response.headers_mut());
    Ok(chores::name_in(response, chore))
}

fn meta(run: &Run, model: &str) -> AnswerMeta {
    AnswerMeta { model_version: model.to_owned(), response_id: run.id().to_string() }
}

/// Estimates the tokens of a request at once, without a run.
fn count(state: &AppState, model: &str, body: &[u8]) -> Result<Response, ApiError> {
    if !state.snapshots.newest().models.contains_key(model) {
        return Err(UnknownModel { model: model.to_owned() }.into());
    }
    Ok(Json(TokenCount { total_tokens: count_tokens(body)? }).into_response())
}

/// The Interactions API, which some clients have beside this one.
pub(super) async fn interactions(uri: Uri) -> ApiError {
    ApiError::no_interactions(uri.path())
}
