//! `POST /v1/plugins/reload`: looks at settings and plugins again, and answers when that is done.
//!
//! What is wrong with a file is part of the answer, whose status says that the look took place.

use std::sync::Arc;

use agentbay_runs::StartError;
use agentbay_runs::reload::ReloadReport;
use axum::Json;
use axum::extract::State as FromState;
use serde::Serialize;

use super::State;
use super::error::ApiError;
use super::plugins::{Refused, paths};

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    object: &'static str,
    /// Counts the looks.
    generation: u64,
    plugins: Vec<String>,
    refused: Vec<Refused>,
    /// Files that come into use when they are compiled.
    loading: Vec<String>,
    configuration: Configuration,
}

/// What became of the settings.
#[derive(Debug, Serialize)]
struct Configuration {
    /// `read`, or `kept` as it was before, because of its faults.
    state: &'static str,
    faults: Vec<String>,
}

/// Looks again.
pub(super) async fn again(FromState(state): FromState<State>) -> Result<Json<Report>, ApiError> {
    match state.reload.reload().await {
        Some(found) => Ok(Json(Report::of(Arc::unwrap_or_clone(found)))),
        None => Err(StartError::Stopping.into()),
    }
}

impl Report {
    fn of(report: ReloadReport) -> Self {
        let ReloadReport { generation, plugins, refused, loading, faults } = report;
        Self {
            object: "reload",
            generation,
            plugins: plugins.iter().map(ToString::to_string).collect(),
            refused: refused.iter().map(Refused::of).collect(),
            loading: paths(&loading),
            configuration: Configuration { state: if faults.is_empty() { "read" } else { "kept" }, faults },
        }
    }
}
