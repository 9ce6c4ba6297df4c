//! `GET /v1/plugins`: the plugins in use and their health, and the files of the plugin folder that are not in use.

use std::path::PathBuf;

use agentbay_domain::{Features, terminal_safe, terminal_safe_path};
use agentbay_runs::plugins::{Health, LoadedPlugin, Refusal, contracts};
use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::AppState;

/// A list of plugins.
#[derive(Debug, Serialize)]
pub(super) struct PluginList {
    object: &'static str,
    /// The supported lines of the contract.
    contracts: Vec<&'static str>,
    data: Vec<Plugin>,
    refused: Vec<RefusedFile>,
    /// Files that come into use when they are compiled.
    loading: Vec<String>,
}

/// One plugin.
#[derive(Debug, Serialize)]
struct Plugin {
    id: String,
    object: &'static str,
    name: String,
    version: String,
    /// The version of the contract that it was built against.
    contract: String,
    source: String,
    sha256: String,
    programs: Vec<String>,
    features: Features,
    health: Health,
}

/// A file that is not in use.
#[derive(Debug, Serialize)]
pub(super) struct RefusedFile {
    file: String,
    reason: String,
}

/// All plugins, sorted by id.
pub(super) async fn list(State(state): State<AppState>) -> Json<PluginList> {
    let snapshot = state.snapshots.newest();
    let data = snapshot.plugins.drivers.values().map(|driver| Plugin::of(&driver.plugin)).collect();
    let refused = snapshot.plugins.refusals.iter().map(RefusedFile::of).collect();
    let loading = paths(&snapshot.plugins.loading);
    Json(PluginList { object: "list", contracts: contracts().collect(), data, refused, loading })
}

pub(super) fn paths(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| terminal_safe_path(path)).collect()
}

impl Plugin {
    fn of(plugin: &LoadedPlugin) -> Self {
        let description = plugin.description();
        Self {
            id: plugin.id().to_string(),
            object: "plugin",
            name: description.name.clone(),
            version: description.version.clone(),
            contract: plugin.contract().to_owned(),
            source: plugin.origin().to_string(),
            sha256: plugin.sha256().to_string(),
            programs: description.programs.clone(),
            features: description.features,
            health: plugin.health(),
        }
    }
}

impl RefusedFile {
    pub(super) fn of(refusal: &Refusal) -> Self {
        Self { file: terminal_safe_path(&refusal.path), reason: terminal_safe(&refusal.reason).into_owned() }
    }
}
