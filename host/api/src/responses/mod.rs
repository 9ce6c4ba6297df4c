//! `POST /v1/responses`: the Responses surface of the OpenAI API, whole, streamed, or in the background.
//!
//! `stream` and `whole` encode the answers of a client that waits; `background` carries out runs without one, into a `log` that
//! `resume` streams. The `store` keeps what `stored` and `conversations` show and what a later request continues. The wire types
//! are in `agentbay_wire::responses`.

mod background;
pub(super) mod conversations;
mod log;
mod resume;
mod store;
pub(super) mod stored;
mod stream;
#[cfg(test)]
mod tests;
mod whole;

use agentbay_domain::{Category, HttpLimits, Limits};
use agentbay_runs::{BlockKind, Request, Run};
use agentbay_wire::responses::{self as wire, Context, Item, ResponseError, ResponsesRequest, decode};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use tracing::Instrument;

use super::chores::{self, Started};
use super::credential::Owner;
use super::error::ApiError;
use super::{AppState, answer, body, request_identity, run_headers, sse, wrong_method};
use log::Log;
pub use store::Store;
use store::{Content, Keep};
use stream::Events;
use whole::Whole;

/// Runs the agent of the model, and answers with its output.
pub(super) async fn create(State(state): State<AppState>, owner: Owner, headers: HeaderMap, body: Body) -> Response {
    not_repeated(respond(state, owner, headers, body).await.into_response())
}

async fn respond(state: AppState, owner: Owner, headers: HeaderMap, body: Body) -> Result<Response, ApiError> {
    let Limits { http: limits, store: store_limits, .. } = state.snapshots.newest().limits;
    let session = run_headers::session_header(&headers)?;
    let body = body::read(body, limits.body).await?;
    let identity = request_identity::of(&headers, &body);
    let mut request = decode(&body)?;
    request.resolve(|id| state.responses.item(&owner, id))?;
    let mut items = earlier(&state.responses, &owner, request.context.as_ref())?;
    let conversation = request.conversation(&items)?;
    let ResponsesRequest { model, input, context, ask, store, background, stream, settings, .. } = request;
    let earlier = items.len();
    items.extend(input);
    let of = match context {
        Some(Context::Conversation(id)) => Some(id),
        Some(Context::Response(_)) | None => None,
    };
    let keep = Keep {
        store: state.responses.clone(),
        owner,
        limits: store_limits,
        items,
        earlier,
        conversation: of,
        is_stored: store,
    };
    let request = Request { model, conversation, ask, partial: stream || background, session };
    let Started { run, chore } = chores::start(&state, &headers, &body, request, identity)?;
    drop(body);
    let response = wire::Response::new(&run.id().to_string(), now(), settings);
    if background {
        return Ok(chores::name_in(in_background(&state, run, response, keep, stream), chore));
    }
    let keep = Some(keep).filter(Keep::is_needed);
    let answer = match stream {
        true => answer::stream(run, Events::new(response, keep), sse::HEADERS, limits).await,
        false => answer::whole(run, Whole { response, keep }, limits).await,
    };
    Ok(chores::name_in(answer, chore))
}

/// What stands before the input of a request.
fn earlier(store: &Store, owner: &Owner, context: Option<&Context>) -> Result<Vec<Item>, ApiError> {
    let (id, param, code) = match context {
        None => return Ok(Vec::new()),
        Some(Context::Response(id)) => (id, "previous_response_id", "previous_response_not_found"),
        Some(Context::Conversation(id)) => (id, "conversation", "conversation_not_found"),
    };
    let refuse = |message: String| Err(ApiError::refused(StatusCode::BAD_REQUEST, code, Some(param), message));
    let stored = match (store.get(owner, id), context) {
        (Some(Content::Conversation(conversation)), Some(Context::Conversation(_))) => return Ok(conversation.items),
        (Some(Content::Response(stored)), Some(Context::Response(_))) => Some(stored),
        (Some(Content::Background(log)), Some(Context::Response(_))) => match log.ended() {
            Some(stored) => Some(stored),
            None => return refuse(format!("the response `{id}` has not ended: poll it, and continue it afterwards")),
        },
        _ => None,
    };
    match stored {
        Some(stored) if stored.is_usable => Ok(stored.items),
        Some(_) => refuse(format!("the response `{id}` failed: continue the one before it")),
        None => refuse(format!(
            "`{param}` names `{id}`, which is not stored: it was deleted or forgotten, or never existed. Send the whole \
             conversation as `input`"
        )),
    }
}

/// Starts to carry out a run that continues without a client, and answers with its state or its events. A repeated request gets
/// the response that is there.
fn in_background(state: &AppState, run: Run, response: wire::Response, keep: Keep, stream: bool) -> Response {
    let limits: HttpLimits = state.snapshots.newest().limits.http;
    let log = match state.responses.get(&keep.owner, &response.id) {
        Some(Content::Background(log)) => log,
        _ => {
            let log = Log::new(run.id(), response.clone(), &keep.items, run.answer_buffer());
            let content = Content::Background(log.clone());
            state.responses.put(keep.owner, response.id.clone(), content, keep.limits);
            let events = Events::new(response, None);
            state.tasks.spawn(background::run(run, events, log.clone(), keep, limits).in_current_span());
            log
        }
    };
    if stream { resume::events(log, 0, limits.keep_alive) } else { stored::shown(state, &log) }
}

/// Codex repeats a POST that is answered with 404 or 5xx, whatever its headers say, and then shows a message of its own. A
/// failure that must not be repeated is 400, which it shows.
fn not_repeated(mut answer: Response) -> Response {
    let is_final = answer.extensions().get::<ApiError>().is_some_and(ApiError::is_final);
    if is_final && (answer.status() == StatusCode::NOT_FOUND || answer.status().is_server_error()) {
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
