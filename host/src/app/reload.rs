//! Keeps the snapshot up to date: whenever files change, settings and plugins are looked at again, and what is good of
//! them is published as one.

use crate::config::{self, Config, Overrides, Source};
use crate::domain::visible_path;
use crate::look::{Asked, Found};
use crate::plugin::{Catalogue, Look, Refusal, Snapshots};
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

    /// Looks again at every change and whenever it is told to or asked, for ever.
    pub(super) async fn follow(mut self, mut watch: Watch, mut hangup: Hangup, mut asked: Asked) {
        loop {
            let anew = tokio::select! {
                () = watch.changed() => false,
                () = self.catalogue.loaded() => false,
                () = hangup.told() => true,
                () = asked.somebody() => true,
            };
            let askers = asked.askers();
            watch.arm().await;
            askers.tell(self.again(anew).await);
        }
    }

    /// What failed before for want of time is tried once more if somebody asked for it.
    async fn again(&mut self, anew: bool) -> Found {
        let faults = self.read_settings();
        let Config { plugins, trust, limits, .. } = &self.config;
        let look = Look { patience: plugins.patience, anew };
        let set = self.catalogue.rescan(&plugins.dir, trust, &limits.plugin, look).await;
        self.tell_of(&set.refusals);
        let loading = set.loading.clone();
        self.generation += 1;
        let snapshot = snapshot(self.generation, &self.config, set, &self.host);
        let (plugins, models) = (snapshot.plugins.drivers.keys().cloned().collect::<Vec<_>>(), snapshot.models.len());
        self.snapshots.publish(snapshot);
        tracing::info!(generation = self.generation, plugins = plugins.len(), models, "looked again");
        Found { generation: self.generation, plugins, refused: self.refusals.clone(), loading, faults }
    }

    /// What is wrong with the settings, if they are not taken.
    fn read_settings(&mut self) -> Vec<String> {
        match config::load(&self.source, &self.overrides) {
            Ok(config) => {
                self.take(config);
                Vec::new()
            }
            Err(error) => {
                tracing::error!("the configuration stays as it was:\n{error}");
                error.faults().iter().map(ToString::to_string).collect()
            }
        }
    }

    /// What the process was started with stays until it is started again.
    fn take(&mut self, config: Config) {
        let fixed = |new: &Config| (new.server.listen, new.server.drain, new.plugins.clone());
        if fixed(&config) != fixed(&self.config) {
            tracing::warn!(
                "server.listen, server.drain and where and how plugins are looked for (plugins.dir, cache, watch, poll_interval, patience) take effect at the next start"
            );
        }
        let (listen, drain, plugins) = fixed(&self.config);
        self.config = config;
        self.config.server.listen = listen;
        self.config.server.drain = drain;
        self.config.plugins = plugins;
    }

    fn tell_of(&mut self, refusals: &[Refusal]) {
        for refusal in refusals.iter().filter(|refusal| !self.refusals.contains(refusal)) {
            tracing::error!(file = visible_path(&refusal.path), reason = refusal.reason, "plugin refused");
        }
        self.refusals = refusals.to_vec();
    }
}
