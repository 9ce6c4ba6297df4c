//! Work of a server after it listens: compiles the built-in plugins that models name, and examines the models. Requests do not
//! wait for it: one that needs a plugin compiles it, or waits for it alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::{Environment, Target};
use agentbay_plugin_host::LoadedPlugin;
use agentbay_runs::doctor::{Examined, examine};
use agentbay_runs::{Snapshot, Snapshots};
use tokio::sync::watch;
use tokio::time::timeout;

use super::model_faults::ModelFaults;
use super::screen::{Screen, during};

/// The longest examination: a repository may be on a file system that does not respond.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The models of a server, and where their state is shown.
#[derive(Debug)]
pub(super) struct Preparation {
    pub(super) snapshots: Snapshots,
    pub(super) environment: Environment,
    pub(super) screen: Arc<dyn Screen>,
    /// Changes with every reload. The value counts changes of the settings.
    pub(super) reloads: watch::Receiver<u64>,
}

impl Preparation {
    /// Prepares the models now and after each reload. They are examined now and after each change of the settings. Never
    /// returns while the server runs.
    pub(super) async fn follow(mut self) {
        let (mut faults, mut examined) = (ModelFaults::default(), None);
        loop {
            let settings = *self.reloads.borrow_and_update();
            self.compile().await;
            if examined != Some(settings) {
                if let Some(models) = self.examine().await {
                    faults.log_new(&models);
                    if examined.is_none() && self.screen.shows_models() {
                        self.screen.models(&models);
                    }
                }
                examined = Some(settings);
            }
            if self.reloads.changed().await.is_err() {
                return;
            }
        }
    }

    /// Compiles the built-in plugins that the models name. An error is logged where it occurs.
    async fn compile(&self) {
        let plugins = not_compiled(&self.snapshots.newest());
        if plugins.is_empty() {
            return;
        }
        let names = plugins.iter().map(|plugin| plugin.id().to_string()).collect::<Vec<_>>().join(", ");
        tracing::info!(plugins = names, "compiling built-in plugins; requests are accepted");
        // One after the other: a request that needs another one then gets half of the processors.
        let all = async {
            for plugin in plugins {
                let _logged = plugin.compile().await;
            }
        };
        during(&*self.screen, &format!("compiling plugins: {names}"), all).await;
    }

    async fn examine(&self) -> Option<Vec<Examined>> {
        let snapshot = self.snapshots.newest();
        let examined = timeout(TIMEOUT, examine(&snapshot, &self.environment, None)).await;
        if examined.is_err() {
            tracing::warn!("cannot examine the models: their repositories or programs do not respond");
        }
        examined.ok()
    }
}

/// The plugins of the models that are not compiled, in the order of the models' names.
fn not_compiled(snapshot: &Snapshot) -> Vec<Arc<LoadedPlugin>> {
    let mut seen = BTreeSet::new();
    let drivers = snapshot.models.values().map(|model| {
        let Target::Cli(target) = &model.target;
        &target.driver
    });
    let plugins = drivers.filter(|driver| seen.insert(*driver)).filter_map(|driver| snapshot.driver(driver));
    plugins.map(|driver| &driver.plugin).filter(|plugin| !plugin.is_compiled()).cloned().collect()
}
