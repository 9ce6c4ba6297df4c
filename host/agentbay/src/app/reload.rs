//! Reloads settings and plugins whenever files change, and publishes the valid ones as one snapshot.

use std::net::SocketAddr;

use agentbay_config::{Config, Fingerprints, Overrides, RunningServer, Source};
use agentbay_domain::{Environment, ServerAddress, terminal_safe_path};
use agentbay_plugin_host::{Catalogue, Refusal, ScanOptions};
use agentbay_runs::Snapshots;
use agentbay_runs::reload::{ReloadReport, ReloadRequests};
use tokio::sync::watch;
use tokio::time::Instant;

use super::held_change::{HeldChange, removed};
use super::load::{Loaded, snapshot};
use super::signals::Hangup;
use crate::watch::Watch;

/// The parts of a snapshot, and their sources.
#[derive(Debug)]
pub(super) struct Reload {
    source: Source,
    overrides: Overrides,
    /// The address of the server.
    listen: SocketAddr,
    config: Config,
    /// The state of the files that `config` was read from.
    seen: Fingerprints,
    held: HeldChange,
    catalogue: Catalogue,
    environment: Environment,
    snapshots: Snapshots,
    generation: u64,
    /// The refusals that are logged already.
    refusals: Vec<Refusal>,
    /// Sent after every reload: the number of changes of the settings.
    reloads: watch::Sender<u64>,
}

impl Reload {
    /// Publishes the first snapshot.
    pub(super) fn new(
        source: Source,
        overrides: Overrides,
        listen: SocketAddr,
        seen: Fingerprints,
        loaded: Loaded,
        snapshots: Snapshots,
    ) -> Self {
        let Loaded { config, catalogue, mut snapshot, environment, .. } = loaded;
        // The system chose the port if the settings have port 0.
        snapshot.own = Some(ServerAddress::new(listen, snapshot.access.hosts()));
        let generation = snapshot.generation;
        let (held, refusals, reloads) = (HeldChange::default(), Vec::new(), watch::Sender::new(0));
        let mut reload = Self {
            source,
            overrides,
            listen,
            config,
            seen,
            held,
            catalogue,
            environment,
            snapshots,
            generation,
            refusals,
            reloads,
        };
        reload.log_refusals(&snapshot.plugins.refusals);
        reload.snapshots.publish(snapshot);
        reload
    }

    /// Changes with every reload. The value counts changes of the settings.
    pub(super) fn reloads(&self) -> watch::Receiver<u64> {
        self.reloads.subscribe()
    }

    /// Reloads after every change, signal and request. Never returns.
    pub(super) async fn follow(mut self, mut watch: Watch, mut hangup: Hangup, mut requests: ReloadRequests) {
        loop {
            let retry = tokio::select! {
                () = watch.changed() => false,
                () = self.catalogue.loaded() => false,
                () = self.held.due() => false,
                () = hangup.received() => true,
                () = requests.recv() => true,
            };
            let waiters = requests.take();
            watch.arm().await;
            let seen = self.seen.clone();
            waiters.send(self.reload(retry).await);
            let has_changed = self.seen != seen;
            self.reloads.send_modify(|settings| *settings += u64::from(has_changed));
        }
    }

    /// Loads everything again. With `retry`, also plugins that took too long to compile before.
    async fn reload(&mut self, retry: bool) -> ReloadReport {
        let faults = self.read_settings();
        let Config { plugins, trust, limits, .. } = &self.config;
        let options = ScanOptions { load_timeout: plugins.load_timeout, retry };
        let set = self.catalogue.rescan(&plugins.dir, trust, &limits.plugin, options).await;
        self.log_refusals(&set.refusals);
        let loading = set.loading.clone();
        self.generation += 1;
        let snapshot = snapshot(self.generation, &self.config, set, &self.environment, self.listen);
        let (plugins, models) = (snapshot.plugins.drivers.keys().cloned().collect::<Vec<_>>(), snapshot.models.len());
        self.snapshots.publish(snapshot);
        tracing::info!(generation = self.generation, plugins = plugins.len(), models, "reloaded");
        ReloadReport { generation: self.generation, plugins, refused: self.refusals.clone(), loading, faults }
    }

    /// Reads the settings. Returns the faults that keep them from being used.
    fn read_settings(&mut self) -> Vec<String> {
        let running = RunningServer { listen: self.listen, seen: &self.seen };
        match agentbay_config::read(&self.source, &self.overrides, Some(running)) {
            Ok((config, seen)) => self.accept(config, seen),
            Err(error) => {
                self.held.clear();
                tracing::error!("the configuration stays as it was:\n{error}");
                error.faults().iter().map(ToString::to_string).collect()
            }
        }
    }

    /// Uses valid settings at once, unless they remove something.
    fn accept(&mut self, config: Config, seen: Fingerprints) -> Vec<String> {
        let removed = removed((&self.config, &self.seen), (&config, &seen));
        let hold = self.config.limits.reload.delay;
        if removed.is_empty() || self.held.has_settled(&seen, hold, Instant::now()) {
            self.held.clear();
            self.apply(config);
            self.seen = seen;
            return Vec::new();
        }
        let (removed, hold) = (removed.join(", "), humantime::format_duration(hold));
        tracing::warn!(
            "the configuration stays as it was until its files have not changed for {hold}: they lack {removed}"
        );
        vec![format!("waits until the files have not changed for {hold}, since they no longer contain: {removed}")]
    }

    /// Applies settings. Those that are fixed at the start keep their values.
    fn apply(&mut self, config: Config) {
        let fixed = |new: &Config| (new.server.listen, new.server.shutdown_timeout, new.plugins.clone());
        if fixed(&config) != fixed(&self.config) {
            tracing::warn!(
                "changes of server.listen, server.shutdown_timeout and plugins.dir, cache, watch, poll_interval, load_timeout take effect at the next start"
            );
        }
        let (listen, shutdown_timeout, plugins) = fixed(&self.config);
        self.config = config;
        self.config.server.listen = listen;
        self.config.server.shutdown_timeout = shutdown_timeout;
        self.config.plugins = plugins;
    }

    fn log_refusals(&mut self, refusals: &[Refusal]) {
        for refusal in refusals.iter().filter(|refusal| !self.refusals.contains(refusal)) {
            tracing::error!(file = terminal_safe_path(&refusal.path), reason = refusal.reason, "plugin refused");
        }
        self.refusals = refusals.to_vec();
    }
}
