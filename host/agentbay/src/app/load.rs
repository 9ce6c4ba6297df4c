//! Loads settings and plugins, and combines them into the first snapshot.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agentbay_config::{Config, Models, Overrides, Source};
use agentbay_domain::{Environment, Model, PluginId, ServerAddress};
use agentbay_os::process;
use agentbay_plugin_host::{Catalogue, PluginSet, ScanOptions};
use agentbay_runs::{Snapshot, compiler};

use super::error::AppError;
use super::screen::{Screen, during};
use crate::metrics::Metrics;

/// Settings and plugins as they are now.
#[derive(Debug)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// All plugins.
    pub catalogue: Catalogue,
    /// The snapshot of both.
    pub snapshot: Snapshot,
    /// The variables of the process.
    pub environment: Environment,
    /// The metrics, which count loaded plugins already.
    pub metrics: Arc<Metrics>,
}

/// Reads the settings and loads the plugins. Built-in plugins are compiled when they are first used.
///
/// # Errors
/// See [`AppError`]. A file of the plugin folder that cannot be loaded is not an error: the snapshot has its refusal.
pub async fn load(source: &Source, screen: &dyn Screen) -> Result<Loaded, AppError> {
    with_config(source, agentbay_config::load(source, &Overrides::default())?, Duration::MAX, screen).await
}

/// Loads the plugins for settings that are read already. A plugin that takes longer than `patience` is left for later.
///
/// # Errors
/// See [`AppError`].
pub(super) async fn with_config(
    source: &Source,
    config: Config,
    patience: Duration,
    screen: &dyn Screen,
) -> Result<Loaded, AppError> {
    during(screen, "compiling plugins", load_plugins(source, config, patience)).await
}

async fn load_plugins(source: &Source, config: Config, patience: Duration) -> Result<Loaded, AppError> {
    let environment = source.environment.clone();
    let metrics = Arc::new(Metrics::default());
    let engine = compiler::engine(&config.plugins.cache, Arc::clone(&metrics) as _)?;
    let mut catalogue = Catalogue::new(engine)?;
    let options = ScanOptions { load_timeout: patience, retry: true };
    let set = catalogue.rescan(&config.plugins.dir, &config.trust, &config.limits.plugin, options).await;
    let snapshot = snapshot(1, &config, set, &environment, config.server.listen);
    Ok(Loaded { config, catalogue, snapshot, environment, metrics })
}

/// Combines settings and plugins, for a server with this address.
pub(super) fn snapshot(
    generation: u64,
    config: &Config,
    plugins: PluginSet,
    environment: &Environment,
    listen: SocketAddr,
) -> Snapshot {
    let models = match &config.models {
        Models::Configured(models) => {
            models.iter().map(|(name, model)| (name.clone(), Arc::new(model.clone()))).collect()
        }
        Models::Discovered { template } => discovered(&plugins, environment, |driver| template.for_driver(driver)),
    };
    let access = config.server.access.clone();
    let own = Some(ServerAddress::new(listen, access.hosts()));
    Snapshot { generation, plugins, models, access, own, limits: config.limits, swaps: 0 }
}

/// A model for each driver whose program is installed.
pub fn discovered(
    plugins: &PluginSet,
    environment: &Environment,
    model: impl Fn(&PluginId) -> Model,
) -> BTreeMap<String, Arc<Model>> {
    let installed = |programs: &[String]| {
        programs.first().is_some_and(|program| process::find(Path::new(program), environment.get("PATH")).is_ok())
    };
    let plugins = plugins.drivers.values().map(|driver| &driver.plugin);
    let found = plugins.filter(|plugin| installed(&plugin.description().programs));
    found.map(|plugin| model(plugin.id())).map(|model| (model.name.clone(), Arc::new(model))).collect()
}
