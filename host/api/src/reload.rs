//! `POST /v1/plugins/reload`: reloads settings and plugins, and answers when that is done.
//!
//! Faults of files are part of the answer; its status only states that the reload took place.

use std::sync::Arc;

use agentbay_runs::StartError;
use agentbay_runs::reload::ReloadReport;
use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::AppState;
use super::error::ApiError;
use super::plugins::{RefusedFile, paths};

/// The result of a reload.
#[derive(Debug, Serialize)]
pub(super) struct WireReload {
    object: &'static str,
    /// The number of the reload.
    generation: u64,
    plugins: Vec<String>,
    refused: Vec<RefusedFile>,
    /// Files that come into use when they are compiled.
    loading: Vec<String>,
    configuration: Configuration,
}

/// The result for the settings.
#[derive(Debug, Serialize)]
struct Configuration {
    /// `read`, or `kept` if the settings before stay in use because of faults.
    state: &'static str,
    faults: Vec<String>,
}

/// Reloads.
pub(super) async fn reload(State(state): State<AppState>) -> Result<Json<WireReload>, ApiError> {
    match state.reload.reload().await {
        Some(report) => Ok(Json(WireReload::of(Arc::unwrap_or_clone(report)))),
        None => Err(StartError::Stopping.into()),
    }
}

impl WireReload {
    fn of(report: ReloadReport) -> Self {
        let ReloadReport { generation, plugins, refused, loading, faults } = report;
        Self {
            object: "reload",
            generation,
            plugins: plugins.iter().map(ToString::to_string).collect(),
            refused: refused.iter().map(RefusedFile::of).collect(),
            loading: paths(&loading),
            configuration: Configuration { state: if faults.is_empty() { "read" } else { "kept" }, faults },
        }
    }
}
