//! `POST /v1/responses`: the Responses surface of the OpenAI API, whole or streamed.
//!
//! `stream` and `whole` encode the two kinds of answer. The wire types are in `agentbay_wire::responses`.

mod stream;
#[cfg(test)]
mod tests;
mod whole;

use agentbay_domain::Category;
use agentbay_runs::{BlockKind, Request};
use agentbay_wire::Malformed;
use agentbay_wire::responses::{self as wire, Context, ResponseError, ResponsesRequest, decode};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use super::chores::{self, Started};
use super::error::ApiError;
use super::{AppState, answer, body, request_identity, run_headers, sse, wrong_method};
use stream::Events;

/// Runs the agent of the model, and answers with its output.
pub(super) async fn create(
    State(state): State<AppState>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let limits = state.snapshots.newest().limits.http;
    let session = run_headers::session_header(&headers)?;
    let body = body::read(body, limits.body).await?;
    let identity = request_identity::of(&headers, &body);
    let request = decode(&body)?;
    if let Some(Context::Response(id) | Context::Conversation(id)) = &request.context {
        return Err(not_stored(id));
    }
    if request.background {
        let message = "responses in the background are not supported: leave `background` out";
        return Err(Malformed { param: Some("background"), message: message.to_owned() }.into());
    }
    let conversation = request.conversation([])?;
    let ResponsesRequest { model, ask, stream, settings, .. } = request;
    let request = Request { model, conversation, ask, partial: stream, session };
    let Started { run, chore } = chores::start(&state, &headers, &body, request, identity)?;
    drop(body);
    let response = wire::Response::new(&run.id().to_string(), now(), settings);
    let answer = match stream {
        true => answer::stream(run, Events::new(response), sse::HEADERS, limits).await,
        false => answer::whole(run, response, limits).await,
    };
    Ok(chores::name_in(without_404(answer), chore))
}

fn not_stored(id: &str) -> ApiError {
    let message = format!("the response `{id}` is not stored: send the whole conversation as `input`");
    let param = Some("previous_response_id");
    ApiError::refused(StatusCode::BAD_REQUEST, "previous_response_not_found", param, message)
}

/// Codex repeats a POST that is answered with 404 six times, each of which would be a run.
fn without_404(mut answer: Response) -> Response {
    if answer.status() == StatusCode::NOT_FOUND {
        *answer.status_mut() = StatusCode::BAD_REQUEST;
    }
    answer
}

/// Codex tries a WebSocket first, and continues at once with POST if it is refused with 426.
pub(super) async fn upgrade(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let upgrade = headers.get(header::UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"));
    if !upgrade {
        return wrong_method(method, uri).await.into_response();
    }
    let message = "there is no WebSocket: send the request as `POST /v1/responses`";
    let mut refused =
        ApiError::refused(StatusCode::UPGRADE_REQUIRED, "websocket_not_supported", None, message).into_response();
    refused.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("HTTP/1.1"));
    refused.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    refused
}

/// Opens an item for a block.
fn open(response: &mut wire::Response, kind: BlockKind) {
    match kind {
        BlockKind::Text => response.open_message(),
        BlockKind::Reasoning => response.open_reasoning(),
    }
}

/// An error as a part of a response. After the code `invalid_prompt` Codex does not repeat the request by itself, and shows
/// the message; each repetition would be a run.
fn response_error(error: &ApiError) -> ResponseError {
    let category = error.code();
    let is_rate_limit = category == Category::RateLimit.name();
    ResponseError {
        code: if is_rate_limit { "rate_limit_exceeded" } else { "invalid_prompt" },
        message: error.message().to_owned(),
        category,
        detail: error.detail().to_owned(),
    }
}

/// The time in seconds since 1970.
fn now() -> u64 {
    u64::try_from(Timestamp::now().as_second()).unwrap_or_default()
}
