//! Whether the process lives, and whether it can take requests. Neither asks for a key.

use axum::extract::State as FromState;
use axum::http::StatusCode;

use super::State;

/// The process lives.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Runs may begin. Models and plugins are loaded before anything is served.
pub(super) async fn ready(FromState(state): FromState<State>) -> (StatusCode, &'static str) {
    if state.runner.is_closed() { (StatusCode::SERVICE_UNAVAILABLE, "stopping\n") } else { (StatusCode::OK, "ready\n") }
}
