//! The HTTP surfaces. A module a surface: it decodes requests with `agentbay_wire`, starts runs, and encodes their replies, which
//! `answer` sends whole or as a stream.
//!
//! `error` has the one table from failures to responses, `surface` its forms; `guard` is the access control.

mod answer;
mod api_key;
mod body;
mod chat;
mod chores;
mod credential;
mod drivers;
mod error;
mod gemini;
mod guard;
mod health;
mod messages;
mod metrics;
mod models;
mod origin;
mod path;
mod plugins;
mod reload;
mod request_id;
mod request_identity;
mod responses;
mod run_headers;
mod runs;
mod sse;
mod surface;

use std::net::SocketAddr;
use std::sync::Arc;

use agentbay_domain::Environment;
use agentbay_runs::doctor::Versions;
use agentbay_runs::reload::ReloadHandle;
use agentbay_runs::{Runner, Snapshots, Tasks};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get, post};
use tower::util::MapRequest;

use error::ApiError;
pub use metrics::{Format, Gauges, Metrics};
pub use responses::Store as ResponseStore;

/// The state that all routes share.
#[derive(Debug, Clone)]
pub struct AppState {
    /// Models and settings.
    pub snapshots: Snapshots,
    /// Requests reloads of settings and plugins.
    pub reload: ReloadHandle,
    /// Starts runs.
    pub runner: Runner,
    /// The variables of the process, for version queries of programs.
    pub host: Environment,
    /// The cached versions of programs.
    pub versions: Arc<Versions>,
    /// The metrics.
    pub metrics: Arc<dyn Metrics>,
    /// The stored responses.
    pub responses: ResponseStore,
    /// The tasks of responses in the background.
    pub tasks: Tasks,
    /// The listen address, which the `Host` header is checked against.
    pub listen: SocketAddr,
}

/// Every route, behind the guard and with a request id.
pub fn router(state: AppState) -> Router {
    let routes = Router::new()
        .route("/", get(health::alive))
        .route("/api/hello", get(health::alive))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::all))
        .route("/v1/drivers", get(drivers::list))
        .route("/v1/plugins", get(plugins::list))
        .route("/v1/plugins/reload", post(reload::reload))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one).post(gemini::call))
        .route("/v1beta/models", get(gemini::models::list))
        .route("/v1beta/models/{*id}", get(gemini::models::one).post(gemini::call))
        .route("/v1/interactions", any(gemini::interactions))
        .route("/v1/interactions/{*rest}", any(gemini::interactions))
        .route("/v1beta/interactions", any(gemini::interactions))
        .route("/v1beta/interactions/{*rest}", any(gemini::interactions))
        .route("/v1/runs", get(runs::list))
        .route("/v1/runs/{id}", get(runs::one).delete(runs::cancel))
        .route("/v1/runs/{id}/diff", get(runs::diff))
        .route("/v1/chat/completions", post(chat::completions))
        .route("/v1/messages", post(messages::create))
        .route("/v1/messages/count_tokens", post(messages::count_tokens))
        .route("/v1/responses", post(responses::create).get(responses::upgrade))
        .route("/v1/responses/{id}", get(responses::stored::one).delete(responses::stored::delete))
        .route("/v1/responses/{id}/cancel", post(responses::stored::cancel))
        .route("/v1/responses/{id}/input_items", get(responses::stored::input_items))
        .route("/v1/conversations", post(responses::conversations::create))
        .route("/v1/conversations/{id}", get(responses::conversations::one).delete(responses::conversations::delete))
        .route("/v1/conversations/{id}/items", get(responses::conversations::items))
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(state.clone(), guard::check))
        .layer(from_fn_with_state(state.clone(), metrics::count))
        .layer(from_fn(request_id::assign))
        .layer(from_fn(surface::adapt))
        .with_state(state);
    // A layer of a router runs after its route was chosen, too late for a change of the path.
    Router::new().fallback_service(MapRequest::new(routes, path::normalized))
}

async fn no_route(uri: axum::http::Uri) -> ApiError {
    ApiError::no_route(uri.path())
}

async fn wrong_method(method: axum::http::Method, uri: axum::http::Uri) -> ApiError {
    ApiError::wrong_method(&method, uri.path())
}
