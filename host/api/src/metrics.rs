//! `GET /metrics`, and the count of requests. The numbers and their names are whoever's that serves.

use std::fmt;

use agentbay_runs::Phase;
use axum::extract::{MatchedPath, Request, State as FromState};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::State;

/// The numbers of the program.
pub trait Metrics: fmt::Debug + Send + Sync {
    /// A request was answered. The route is the pattern, not the path.
    fn request_answered(&self, route: &str, status: u16);

    /// All numbers, as text.
    ///
    /// # Errors
    /// One cannot be written down.
    fn written(&self, now: Now, format: Format) -> Result<String, fmt::Error>;
}

/// What is looked at when it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Runs whose CLI is at work, or that are cleared away.
    pub going: usize,
    /// Runs that wait: for others to end, or to be tried again.
    pub waiting: usize,
    /// Plugins in use.
    pub loaded: usize,
    /// Files of the plugin folder that are not.
    pub refused: usize,
    /// Plugins that came, went or were replaced since the start.
    pub swaps: u64,
}

/// The two ways to write numbers down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The text format 0.0.4 of Prometheus.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// What stands in the header `content-type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

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
