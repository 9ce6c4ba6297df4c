//! What is done with chores, the requests that a client sends beside the turns of its user: each is answered without a run, run,
//! or refused, as the model's `chores` says. `x-agentbay-chore` in the answer names what was recognised.

use agentbay_domain::Chores;
use agentbay_runs::{Identity, Request, Run};
use agentbay_wire::chore::{Chore, ChoreKind, Seen, recognize};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;

use super::AppState;
use super::error::ApiError;

const CHORE: HeaderName = HeaderName::from_static("x-agentbay-chore");

/// By which Codex names its chores.
const CODEX_METADATA: &str = "x-codex-turn-metadata";

/// A run, or the answer to a chore in its place.
#[derive(Debug)]
pub(super) struct Started {
    /// The run.
    pub(super) run: Run,
    /// What was recognised.
    pub(super) chore: Option<ChoreKind>,
}

/// Starts the run of a request with this body, unless it is a chore that needs none.
///
/// # Errors
/// The run cannot start, or the model refuses chores.
pub(super) fn start(
    state: &AppState,
    headers: &HeaderMap,
    body: &[u8],
    mut request: Request,
    identity: Identity,
) -> Result<Started, ApiError> {
    let codex_metadata = headers.get(CODEX_METADATA).and_then(|metadata| metadata.to_str().ok());
    let chore = recognize(Seen { conversation: &request.conversation, ask: &request.ask, body, codex_metadata });
    let kind = chore.as_ref().map(|chore| chore.kind);
    let run = match chore.map(|chore| answered(state, &mut request, body, chore)).transpose()?.flatten() {
        Some(answered) => answered,
        None => state.runner.start(request, Some(identity))?,
    };
    Ok(Started { run, chore: kind })
}

/// The answer to a chore that needs no run. Else the request has the model that is to run it.
fn answered(
    state: &AppState,
    request: &mut Request,
    body: &[u8],
    Chore { kind, answer }: Chore,
) -> Result<Option<Run>, ApiError> {
    state.metrics.chore_recognized(kind.name());
    tracing::info!(chore = kind.name(), model = request.model, "a chore of the client is recognised");
    // Some clients name a model of their vendor for chores, whatever they use for turns.
    let chores = state.snapshots.newest().models.get(&request.model).map(|model| model.chores.clone());
    match (chores.unwrap_or_default(), answer) {
        (Chores::Answer, Some(answer)) => return Ok(Some(Run::answered(body.len(), answer))),
        (Chores::Refuse, Some(_)) => return Err(refused(&request.model, kind)),
        (Chores::Model(model), _) => request.model = model,
        (Chores::Run, _) | (Chores::Answer | Chores::Refuse, None) => {}
    }
    Ok(None)
}

/// Names the chore in the answer to it.
pub(super) fn name_in(mut response: Response, chore: Option<ChoreKind>) -> Response {
    if let Some(kind) = chore {
        response.headers_mut().insert(CHORE, HeaderValue::from_static(kind.name()));
    }
    response
}

fn refused(model: &str, kind: ChoreKind) -> ApiError {
    let message = format!(
        "the model `{model}` refuses chores, and this request is for a {}: turn it off in the client, or set `chores` of the model in \
         proxy.toml",
        kind.name()
    );
    ApiError::refused(StatusCode::BAD_REQUEST, "chore_refused", None, message)
}
