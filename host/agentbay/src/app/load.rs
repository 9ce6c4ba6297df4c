//! Settings and plugins, brought together into the first snapshot.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agentbay_config::{Config, Models, Overrides, Source};
use agentbay_domain::{Environment, Model, OwnAddress, PluginId};
use agentbay_os::process;
use agentbay_plugin_host::{Catalogue, PluginSet, ScanOptions};
use agentbay_runs::{Snapshot, compiler};

use super::error::AppError;
use crate::metrics::Metrics;

/// Settings and plugins as they are now.
#[derive(Debug)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Every plugin there is.
    pub catalogue: Catalogue,
    /// What they come to.
    pub snapshot: Snapshot,
    /// The variables of the process.
    pub host: Environment,
    /// What is counted, of plugins already.
    pub metrics: Arc<Metrics>,
}

/// Reads the settings and loads the plugins.
///
/// # Errors
/// See [`AppError`]. Files of the plugin folder that cannot be loaded are no error: the snapshot tells of them.
pub async fn load(source: &Source) -> Result<Loaded, AppError> {
    with_config(source, agentbay_config::load(source, &Overrides::default())?, Duration::MAX).await
}

/// The same with settings that are read already, and so long for plugins to be loaded. What takes longer is not there
/// yet.
pub(super) async fn with_config(source: &Source, config: Config, patience: Duration) -> Result<Loaded, AppError> {
    let host = source.environment.clone();
    let metrics = Arc::new(Metrics::default());
    let engine = compiler::engine(&config.plugins.cache, Arc::clone(&metrics) as _)?;
    let catalogue = Catalogue::new(engine, &config.limits.plugin).await;
    let mut catalogue = catalogue.map_err(|(id, source)| AppError::Plugin { id, source })?;
    let look = ScanOptions { load_timeout: patience, retry: true };
    let set = catalogue.rescan(&config.plugins.dir, &config.trust, &config.limits.plugin, look).await;
    let snapshot = snapshot(1, &config, set, &host, config.server.listen);
    Ok(Loaded { config, catalogue, snapshot, host, metrics })
}

/// Brings settings and plugins together, for a server that listens on this address.
pub(super) fn snapshot(
    generation: u64,
    config: &Config,
    plugins: PluginSet,
    host: &Environment,
    listen: SocketAddr,
) -> Snapshot {
    let models = match &config.models {
        Models::Configured(models) => {
            models.iter().map(|(name, model)| (name.clone(), Arc::new(model.clone()))).collect()
        }
        Models::Discovered { template } => discovered(&plugins, host, |driver| template.for_driver(driver)),
    };
    let access = config.server.access.clone();
    let own = Some(OwnAddress::new(listen, access.hosts()));
    Snapshot { generation, plugins, models, access, own, limits: config.limits, swaps: 0 }
}

/// A model for each driver whose program is installed.
fn discovered(
    plugins: &PluginSet,
    host: &Environment,
    model: impl Fn(&PluginId) -> Model,
) -> BTreeMap<String, Arc<Model>> {
    let installed = |programs: &[String]| {
        programs.first().is_some_and(|program| process::find(Path::new(program), host.get("PATH")).is_ok())
    };
    let plugins = plugins.drivers.values().map(|driver| &driver.plugin);
    let found = plugins.filter(|plugin| installed(&plugin.description().programs));
    found.map(|plugin| model(plugin.id())).map(|model| (model.name.clone(), Arc::new(model))).collect()
}
