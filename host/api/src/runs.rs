//! `/v1/runs`: the runs that go on, how one is ended, and what one has changed.

use agentbay_domain::{Category, Failure, RunId};
use agentbay_runs::{FailedAttempt, LiveRun};
use axum::Json;
use axum::extract::State as FromState;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::State;
use super::error::ApiError;
use super::path::Name;

/// A list in the form of the OpenAI API.
#[derive(Serialize)]
pub(super) struct List {
    object: &'static str,
    data: Vec<WireRun>,
}

/// A run as clients see it.
#[derive(Serialize)]
pub(super) struct WireRun {
    id: String,
    object: &'static str,
    /// The model that was asked for.
    model: String,
    /// The model that is at it.
    serving: String,
    driver: String,
    state: &'static str,
    /// When it came, in RFC 3339.
    since: String,
    /// The tries that failed.
    failed: Vec<WireTry>,
}

#[derive(Serialize)]
struct WireTry {
    model: String,
    code: &'static str,
}

/// All of them, the oldest first.
pub(super) async fn list(FromState(state): FromState<State>) -> Json<List> {
    Json(List { object: "list", data: state.runner.live().into_iter().map(WireRun::from).collect() })
}

/// One of them.
pub(super) async fn one(FromState(state): FromState<State>, Name(id): Name) -> Result<Json<WireRun>, ApiError> {
    known(&id, state.runner.one(named(&id)?)).map(Json)
}

/// Ends one. Its client is told; its processes may take the grace time to end.
pub(super) async fn cancel(
    FromState(state): FromState<State>,
    Name(id): Name,
) -> Result<(StatusCode, Json<WireRun>), ApiError> {
    let run = known(&id, state.runner.cancel(named(&id)?))?;
    Ok((StatusCode::ACCEPTED, Json(run)))
}

/// What one changed that is over, as a patch.
pub(super) async fn diff(FromState(state): FromState<State>, Name(id): Name) -> Result<Response, ApiError> {
    let run = named(&id)?;
    match state.runner.patch(run).await {
        Ok(Some(patch)) => Ok(([(header::CONTENT_TYPE, "text/x-diff")], patch).into_response()),
        Ok(None) => Err(ApiError::no_work(&id)),
        Err(_longer) => {
            let message = format!(
                "the patch is longer than `limits.unread`: run `git diff refs/agentbay-base/{run} refs/agentbay/{run}` \
                 in the repository"
            );
            Err(Failure::new(Category::Configuration, message, "").into())
        }
    }
}

fn named(id: &str) -> Result<RunId, ApiError> {
    id.parse().map_err(|_| ApiError::no_such_run(id))
}

fn known(id: &str, run: Option<LiveRun>) -> Result<WireRun, ApiError> {
    run.map(WireRun::from).ok_or_else(|| ApiError::no_such_run(id))
}

impl From<LiveRun> for WireRun {
    fn from(run: LiveRun) -> Self {
        Self {
            id: run.id.to_string(),
            object: "run",
            model: run.model,
            serving: run.serving,
            driver: run.driver.to_string(),
            state: run.phase.name(),
            since: run.since.to_string(),
            failed: run.failed.into_iter().map(WireTry::from).collect(),
        }
    }
}

impl From<FailedAttempt> for WireTry {
    fn from(failed: FailedAttempt) -> Self {
        Self { model: failed.model, code: failed.category.name() }
    }
}
