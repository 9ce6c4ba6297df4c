//! Liveness and readiness. No route requires a key.

use axum::extract::State;
use axum::http::StatusCode;

use super::AppState;

/// The process is alive. Claude Code asks for the root, or for `/api/hello`, before its first request.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// New runs are accepted. Models and plugins are loaded before the server accepts requests.
pub(super) async fn ready(State(state): State<AppState>) -> (StatusCode, &'static str) {
    if state.runner.is_closed() { (StatusCode::SERVICE_UNAVAILABLE, "stopping\n") } else { (StatusCode::OK, "ready\n") }
}
