//! Keeps the snapshot up to date: whenever files change, settings and plugins are looked at again, and what is good of
//! them is published as one.

use crate::config::{self, Config, Overrides, Source};
use crate::plugin::{Catalogue, Refusal, Snapshots};
use crate::process::HostVariables;
use crate::watch::Watch;

use super::load::{Loaded, snapshot};
use super::signals::Hangup;

/// What the snapshots are made of.
#[derive(Debug)]
pub(super) struct Reload {
    source: Source,
    overrides: Overrides,
    config: Config,
    catalogue: Catalogue,
    host: HostVariables,
    snapshots: Snapshots,
    generation: u64,
    /// What has been told of already.
    refusals: Vec<Refusal>,
}

impl Reload {
    /// Publishes the first snapshot.
    pub(super) fn new(source: Source, overrides: Overrides, loaded: Loaded, snapshots: Snapshots) -> Self {
        let Loaded { config, catalogue, snapshot, host, .. } = loaded;
        let generation = snapshot.generation;
        let mut reload =
            Self { source, overrides, config, catalogue, host, snapshots, generation, refusals: Vec::new() };
        reload.tell_of(&snapshot.plugins.refusals);
        reload.snapshots.publish(snapshot);
        reload
    }

    /// Looks again at every change and whenever it is told to, for ever.
    pub(super) async fn follow(mut self, watch: Watch, mut hangup: Hangup) {
        loop {
            tokio::select! {
                () = watch.changed() => {}
                () = hangup.told() => {}
            }
            self.again().await;
        }
    }

    async fn again(&mut self) {
        match config::load(&self.source, &self.overrides) {
            Ok(config) => self.take(config),
            Err(faults) => tracing::error!("the configuration stays as it was:\n{faults}"),
        }
        let Config { plugins, trust, limits, .. } = &self.config;
        let set = self.catalogue.rescan(&plugins.dir, trust, &limits.plugin).await;
        self.tell_of(&set.refusals);
        self.generation += 1;
        let snapshot = snapshot(self.generation, &self.config, &self.catalogue, set, &self.host);
        let (plugins, models) = (snapshot.plugins.plugins.len(), snapshot.models.len());
        self.snapshots.publish(snapshot);
        tracing::info!(generation = self.generation, plugins, models, "looked again");
    }

    /// What the process was started with stays until it is started again.
    fn take(&mut self, config: Config) {
        let fixed = |new: &Config| (new.server.listen, new.server.drain, new.plugins.clone());
        if fixed(&config) != fixed(&self.config) {
            tracing::warn!("server.listen, server.drain, plugins.dir and plugins.cache take effect at the next start");
        }
        let (listen, drain, plugins) = fixed(&self.config);
        self.config = config;
        self.config.server.listen = listen;
        self.config.server.drain = drain;
        self.config.plugins = plugins;
    }

    fn tell_of(&mut self, refusals: &[Refusal]) {
        for refusal in refusals.iter().filter(|refusal| !self.refusals.contains(refusal)) {
            tracing::error!(file = %refusal.path.display(), reason = refusal.reason, "plugin refused");
        }
        self.refusals = refusals.to_vec();
    }
}
