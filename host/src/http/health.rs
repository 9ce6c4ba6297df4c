//! Whether the process lives, and whether it can take requests. Neither asks for a key.

use axum::extract::State as FromState;
use axum::http::StatusCode;

use super::State;

/// The process lives.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Models and plugins are loaded, and runs may begin.
pub(super) async fn ready(FromState(state): FromState<State>) -> (StatusCode, &'static str) {
    if state.runner.is_closed() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping\n")
    } else if state.snapshots.newest().generation > 0 {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "loading\n")
    }
}
