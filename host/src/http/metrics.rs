//! `GET /metrics`, and the count of requests. The numbers and their names are `crate::metrics`'.

use axum::extract::{MatchedPath, Request, State as FromState};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::State;
use crate::metrics::{Format, Now};
use crate::run::Phase;

/// All numbers, in the format that the client asks for.
pub(super) async fn all(FromState(state): FromState<State>, headers: HeaderMap) -> Response {
    let format = wanted(&headers);
    match state.metrics.written(now(&state), format) {
        Ok(text) => ([(header::CONTENT_TYPE, format.content_type())], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Counts a request by its route, which is none of ours if there is nothing at its path.
pub(super) async fn count(FromState(state): FromState<State>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    state.metrics.request_answered(route, response.status().as_u16());
    response
}

fn wanted(headers: &HeaderMap) -> Format {
    let accepts =
        |value: &header::HeaderValue| value.to_str().is_ok_and(|value| value.contains("application/openmetrics-text"));
    if headers.get_all(header::ACCEPT).iter().any(accepts) { Format::OpenMetrics } else { Format::Prometheus }
}

fn now(state: &State) -> Now {
    let snapshot = state.snapshots.newest();
    let runs = state.runner.live();
    let going = runs.iter().filter(|run| matches!(run.phase, Phase::Running | Phase::Ending)).count();
    Now {
        going,
        waiting: runs.len() - going,
        loaded: snapshot.plugins.drivers.len(),
        refused: snapshot.plugins.refusals.len(),
        swaps: snapshot.swaps,
    }
}
