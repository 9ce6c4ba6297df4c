//! `GET /v1/drivers`: the plugins in use, and the examination of their models.

use agentbay_domain::Features;
use agentbay_runs::doctor::{Examined, examine};
use agentbay_runs::plugins::LoadedPlugin;
use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::AppState;

/// A list of drivers.
#[derive(Debug, Serialize)]
pub(super) struct DriverList {
    object: &'static str,
    data: Vec<Driver>,
}

/// One driver.
#[derive(Debug, Serialize)]
struct Driver {
    id: String,
    object: &'static str,
    name: String,
    version: String,
    source: String,
    sha256: String,
    programs: Vec<String>,
    features: Features,
    tested_versions: String,
    install_hint: String,
    login_hint: String,
    models: Vec<Examined>,
}

/// All drivers, sorted by id. Each program is asked for its version once.
pub(super) async fn list(State(state): State<AppState>) -> Json<DriverList> {
    let snapshot = state.snapshots.newest();
    let examined = examine(&snapshot, &state.host, Some(&state.versions)).await;
    let drivers = snapshot.plugins.drivers.values();
    Json(DriverList { object: "list", data: drivers.map(|one| driver(&one.plugin, &examined)).collect() })
}

fn driver(plugin: &LoadedPlugin, examined: &[Examined]) -> Driver {
    let description = plugin.description();
    let id = plugin.id().to_string();
    Driver {
        models: examined.iter().filter(|model| model.driver == id).cloned().collect(),
        id,
        object: "driver",
        name: description.name.clone(),
        version: description.version.clone(),
        source: plugin.origin().to_string(),
        sha256: plugin.sha256().to_string(),
        programs: description.programs.clone(),
        features: description.features,
        tested_versions: description.probe.tested_versions.clone(),
        install_hint: description.probe.install_hint.clone(),
        login_hint: description.probe.login_hint.clone(),
    }
}
