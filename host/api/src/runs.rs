//! `/v1/runs`: the active runs, the cancellation of one, and the changes of a finished one.

use agentbay_domain::{Category, Failure, RunId};
use agentbay_runs::{FailedAttempt, LiveRun};
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::AppState;
use super::error::ApiError;
use super::path::Name;

/// A list in the form of the OpenAI API.
#[derive(Serialize)]
pub(super) struct RunList {
    object: &'static str,
    data: Vec<WireRun>,
}

/// A run as clients see it.
#[derive(Serialize)]
pub(super) struct WireRun {
    id: String,
    object: &'static str,
    /// The requested model.
    model: String,
    /// The model of the current attempt.
    current_model: String,
    driver: String,
    state: &'static str,
    /// When it was created, in RFC 3339.
    created_at: String,
    /// The attempts that failed.
    failed_attempts: Vec<WireAttempt>,
}

#[derive(Serialize)]
struct WireAttempt {
    model: String,
    code: &'static str,
}

/// All active runs, the oldest first.
pub(super) async fn list(State(state): State<AppState>) -> Json<RunList> {
    Json(RunList { object: "list", data: state.runner.live().into_iter().map(WireRun::from).collect() })
}

/// One active run.
pub(super) async fn one(State(state): State<AppState>, Name(id): Name) -> Result<Json<WireRun>, ApiError> {
    found(&id, state.runner.one(parse_id(&id)?)).map(Json)
}

/// Cancels a run. Its client receives an error; its processes have `limits.exit_grace` to end.
pub(super) async fn cancel(
    State(state): State<AppState>,
    Name(id): Name,
) -> Result<(StatusCode, Json<WireRun>), ApiError> {
    let run = found(&id, state.runner.cancel(parse_id(&id)?))?;
    Ok((StatusCode::ACCEPTED, Json(run)))
}

/// The changes of a finished run, as a patch.
pub(super) async fn diff(State(state): State<AppState>, Name(id): Name) -> Result<Response, ApiError> {
    let run = parse_id(&id)?;
    match state.runner.patch(run).await {
        Ok(Some(patch)) => Ok(([(header::CONTENT_TYPE, "text/x-diff")], patch).into_response()),
        Ok(None) => Err(ApiError::no_saved_work(&id)),
        Err(_longer) => {
            let message = format!(
                "the patch is longer than `limits.answer_buffer`: run `git diff refs/agentbay-base/{run} refs/agentbay/{run}` \
                 in the repository"
            );
            Err(Failure::new(Category::Configuration, message, "").into())
        }
    }
}

fn parse_id(id: &str) -> Result<RunId, ApiError> {
    id.parse().map_err(|_| ApiError::no_such_run(id))
}

fn found(id: &str, run: Option<LiveRun>) -> Result<WireRun, ApiError> {
    run.map(WireRun::from).ok_or_else(|| ApiError::no_such_run(id))
}

impl From<LiveRun> for WireRun {
    fn from(run: LiveRun) -> Self {
        Self {
            id: run.id.to_string(),
            object: "run",
            model: run.model,
            current_model: run.current_model,
            driver: run.driver.to_string(),
            state: run.phase.name(),
            created_at: run.created_at.to_string(),
            failed_attempts: run.failed_attempts.into_iter().map(WireAttempt::from).collect(),
        }
    }
}

impl From<FailedAttempt> for WireAttempt {
    fn from(failed: FailedAttempt) -> Self {
        Self { model: failed.model, code: failed.category.name() }
    }
}
