//! `GET /v1/drivers`: the plugins in use, and what is known of the models that they drive.

use agentbay_domain::Features;
use agentbay_runs::doctor::{Examined, examine};
use agentbay_runs::plugins::LoadedPlugin;
use axum::Json;
use axum::extract::State as FromState;
use serde::Serialize;

use super::State;

/// A list of drivers.
#[derive(Debug, Serialize)]
pub(super) struct List {
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

/// All drivers, in the order of their names. Programs are asked for their version, once.
pub(super) async fn list(FromState(state): FromState<State>) -> Json<List> {
    let snapshot = state.snapshots.newest();
    let examined = examine(&snapshot, &state.host, Some(&state.versions)).await;
    let drivers = snapshot.plugins.drivers.values();
    Json(List { object: "list", data: drivers.map(|one| driver(&one.plugin, &examined)).collect() })
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
