//! `GET /metrics`, and the count of requests. The metrics themselves belong to the program that serves.

use std::fmt;

use agentbay_runs::Phase;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::AppState;

/// The metrics of the program.
pub trait Metrics: fmt::Debug + Send + Sync {
    /// A request was answered. The route is the pattern, not the path.
    fn request_answered(&self, route: &str, status: u16);

    /// A chore of a client was recognised.
    fn chore_recognized(&self, chore: &'static str);

    /// Encodes all metrics as text.
    ///
    /// # Errors
    /// A metric cannot be encoded.
    fn encode(&self, gauges: Gauges, format: Format) -> Result<String, fmt::Error>;
}

/// Values that are read at the time of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gauges {
    /// Runs whose CLI is at work, or whose clean-up is in progress.
    pub active: usize,
    /// Runs that wait in the queue or for a retry.
    pub waiting: usize,
    /// Plugins in use.
    pub loaded: usize,
    /// Files of the plugin folder that are not in use.
    pub refused: usize,
    /// Plugins that were added, removed or replaced since the start.
    pub plugin_changes: u64,
}

/// The formats of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The text format 0.0.4 of Prometheus.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// The value of the header `content-type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// All metrics, in the format that the client accepts.
pub(super) async fn all(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let format = accepted_format(&headers);
    match state.metrics.encode(gauges(&state), format) {
        Ok(text) => ([(header::CONTENT_TYPE, format.content_type())], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Counts a request by its route, or as `other` if its path has no route.
pub(super) async fn count(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    state.metrics.request_answered(route, response.status().as_u16());
    response
}

fn accepted_format(headers: &HeaderMap) -> Format {
    let accepts =
        |value: &header::HeaderValue| value.to_str().is_ok_and(|value| value.contains("application/openmetrics-text"));
    if headers.get_all(header::ACCEPT).iter().any(accepts) { Format::OpenMetrics } else { Format::Prometheus }
}

fn gauges(state: &AppState) -> Gauges {
    let snapshot = state.snapshots.newest();
    let runs = state.runner.live();
    let active = runs.iter().filter(|run| matches!(run.phase, Phase::Running | Phase::Ending)).count();
    Gauges {
        active,
        waiting: runs.len() - active,
        loaded: snapshot.plugins.drivers.len(),
        refused: snapshot.plugins.refusals.len(),
        plugin_changes: snapshot.swaps,
    }
}
