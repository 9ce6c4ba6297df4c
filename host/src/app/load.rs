//! Settings and plugins, brought together into the first snapshot.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::error::AppError;
use crate::compiler;
use crate::config::{self, Config, Models, Overrides, Source};
use crate::domain::{Model, OwnAddress, PluginId};
use crate::metrics::Metrics;
use crate::plugin::{Catalogue, Look, PluginSet, Snapshot};
use crate::process::{self, HostVariables};

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
    pub host: HostVariables,
    /// What is counted, of plugins already.
    pub metrics: Metrics,
}

/// Reads the settings and loads the plugins.
///
/// # Errors
/// See [`AppError`]. Files of the plugin folder that cannot be loaded are no error: the snapshot tells of them.
pub async fn load(source: &Source) -> Result<Loaded, AppError> {
    with_config(source, config::load(source, &Overrides::default())?, Duration::MAX).await
}

/// The same with settings that are read already, and so long for plugins to be loaded. What takes longer is not there
/// yet.
pub(super) async fn with_config(source: &Source, config: Config, patience: Duration) -> Result<Loaded, AppError> {
    let host = host_variables(source);
    let metrics = Metrics::default();
    let engine = compiler::engine(&config.plugins, metrics.clone())?;
    let catalogue = Catalogue::new(engine, &config.limits.plugin).await;
    let mut catalogue = catalogue.map_err(|(id, source)| AppError::Plugin { id, source })?;
    let look = Look { patience, anew: true };
    let set = catalogue.rescan(&config.plugins.dir, &config.trust, &config.limits.plugin, look).await;
    let snapshot = snapshot(1, &config, set, &host, config.server.listen);
    Ok(Loaded { config, catalogue, snapshot, host, metrics })
}

/// Brings settings and plugins together, for a server that listens on this address.
pub(super) fn snapshot(
    generation: u64,
    config: &Config,
    plugins: PluginSet,
    host: &HostVariables,
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
    host: &HostVariables,
    model: impl Fn(&PluginId) -> Model,
) -> BTreeMap<String, Arc<Model>> {
    let installed = |programs: &[String]| {
        programs.first().is_some_and(|program| process::find(Path::new(program), host.get("PATH")).is_ok())
    };
    let plugins = plugins.drivers.values().map(|driver| &driver.plugin);
    let found = plugins.filter(|plugin| installed(&plugin.description().programs));
    found.map(|plugin| model(plugin.id())).map(|model| (model.name.clone(), Arc::new(model))).collect()
}

fn host_variables(source: &Source) -> HostVariables {
    source.environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
