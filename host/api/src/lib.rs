//! The surfaces: what comes in over HTTP and what goes out. One module a surface, each with its wire types, its way from
//! the wire to a conversation and its way from events to the wire.
//!
//! `error` holds the one table from failures to answers; `guard` decides who gets in.

mod api_key;
mod body;
mod chat;
mod claim;
mod drivers;
mod error;
mod guard;
mod head;
mod health;
mod metrics;
mod models;
mod origin;
mod path;
mod plugins;
mod reload;
mod request_id;
mod runs;
mod sse;

use std::net::SocketAddr;
use std::sync::Arc;

use agentbay_domain::Environment;
use agentbay_runs::doctor::Versions;
use agentbay_runs::reload::ReloadHandle;
use agentbay_runs::{Runner, Snapshots};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use tower::util::MapRequest;

use error::ApiError;
pub use metrics::{Format, Metrics, Now};

/// What the surfaces work with.
#[derive(Debug, Clone)]
pub struct State {
    /// Models and settings.
    pub snapshots: Snapshots,
    /// Requests reloads of settings and plugins.
    pub reload: ReloadHandle,
    /// Starts runs.
    pub runner: Runner,
    /// The variables of the process, for asking programs for their version.
    pub host: Environment,
    /// The versions that were asked for.
    pub versions: Arc<Versions>,
    /// What is counted.
    pub metrics: Arc<dyn Metrics>,
    /// The address that is listened to, which the `Host` header is checked against.
    pub listen: SocketAddr,
}

/// Every route, behind the guard and with a request id.
pub fn router(state: State) -> Router {
    let routes = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::all))
        .route("/v1/drivers", get(drivers::list))
        .route("/v1/plugins", get(plugins::list))
        .route("/v1/plugins/reload", post(reload::again))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one))
        .route("/v1/runs", get(runs::list))
        .route("/v1/runs/{id}", get(runs::one).delete(runs::cancel))
        .route("/v1/runs/{id}/diff", get(runs::diff))
        .route("/v1/chat/completions", post(chat::completions))
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(state.clone(), guard::check))
        .layer(from_fn_with_state(state.clone(), metrics::count))
        .layer(from_fn(request_id::give))
        .with_state(state);
    // What is layered on a router sees a path only when its route has been chosen.
    Router::new().fallback_service(MapRequest::new(routes, path::tidied))
}

async fn no_route(uri: axum::http::Uri) -> ApiError {
    ApiError::no_route(uri.path())
}

async fn wrong_method(method: axum::http::Method, uri: axum::http::Uri) -> ApiError {
    ApiError::wrong_method(&method, uri.path())
}
