//! Keeps the snapshot up to date: whenever files change, settings and plugins are looked at again, and what is good of
//! them is published as one.

use std::net::SocketAddr;

use agentbay_config::{Config, Overrides, Running, Seen, Source};
use agentbay_domain::{Environment, OwnAddress, visible_path};
use agentbay_plugin_host::{Catalogue, Refusal, ScanOptions};
use agentbay_runs::Snapshots;
use agentbay_runs::reload::{ReloadReport, ReloadRequests};
use tokio::time::Instant;

use super::held::{Held, lost};
use super::load::{Loaded, snapshot};
use super::missing::Missing;
use super::signals::Hangup;
use crate::watch::Watch;

/// What the snapshots are made of.
#[derive(Debug)]
pub(super) struct Reload {
    source: Source,
    overrides: Overrides,
    /// The address that is listened on.
    listen: SocketAddr,
    config: Config,
    /// What the files were like that `config` is of.
    seen: Seen,
    held: Held,
    catalogue: Catalogue,
    host: Environment,
    snapshots: Snapshots,
    generation: u64,
    /// What has been told of already.
    refusals: Vec<Refusal>,
    missing: Missing,
}

impl Reload {
    /// Publishes the first snapshot.
    pub(super) fn new(
        source: Source,
        overrides: Overrides,
        listen: SocketAddr,
        seen: Seen,
        loaded: Loaded,
        snapshots: Snapshots,
    ) -> Self {
        let Loaded { config, catalogue, mut snapshot, host, .. } = loaded;
        // Where port 0 was asked for, the port is known only now.
        snapshot.own = Some(OwnAddress::new(listen, snapshot.access.hosts()));
        let generation = snapshot.generation;
        let (held, refusals, missing) = (Held::default(), Vec::new(), Missing::default());
        let mut reload = Self {
            source,
            overrides,
            listen,
            config,
            seen,
            held,
            catalogue,
            host,
            snapshots,
            generation,
            refusals,
            missing,
        };
        reload.tell_of(&snapshot.plugins.refusals);
        reload.snapshots.publish(snapshot);
        reload
    }

    /// Reloads at every change, at every SIGHUP and at every request, until the process stops.
    pub(super) async fn follow(mut self, mut watch: Watch, mut hangup: Hangup, mut requests: ReloadRequests) {
        self.missing.tell(&self.snapshots, &self.host).await;
        loop {
            let anew = tokio::select! {
                () = watch.changed() => false,
                () = self.catalogue.loaded() => false,
                () = self.held.due() => false,
                () = hangup.told() => true,
                () = requests.recv() => true,
            };
            let waiters = requests.take();
            watch.arm().await;
            let seen = self.seen.clone();
            waiters.send(self.reload(anew).await);
            if self.seen != seen {
                self.missing.tell(&self.snapshots, &self.host).await;
            }
        }
    }

    /// Tries plugins that ran out of time again if the reload was requested.
    async fn reload(&mut self, anew: bool) -> ReloadReport {
        let faults = self.read_settings();
        let Config { plugins, trust, limits, .. } = &self.config;
        let look = ScanOptions { load_timeout: plugins.patience, retry: anew };
        let set = self.catalogue.rescan(&plugins.dir, trust, &limits.plugin, look).await;
        self.tell_of(&set.refusals);
        let loading = set.loading.clone();
        self.generation += 1;
        let snapshot = snapshot(self.generation, &self.config, set, &self.host, self.listen);
        let (plugins, models) = (snapshot.plugins.drivers.keys().cloned().collect::<Vec<_>>(), snapshot.models.len());
        self.snapshots.publish(snapshot);
        tracing::info!(generation = self.generation, plugins = plugins.len(), models, "reloaded");
        ReloadReport { generation: self.generation, plugins, refused: self.refusals.clone(), loading, faults }
    }

    /// Reads the settings, and says why they are not used if they are not.
    fn read_settings(&mut self) -> Vec<String> {
        let running = Running { listen: self.listen, seen: &self.seen };
        match agentbay_config::read(&self.source, &self.overrides, Some(running)) {
            Ok((config, seen)) => self.judge(config, seen),
            Err(error) => {
                self.held.give_up();
                tracing::error!("the configuration stays as it was:\n{error}");
                error.faults().iter().map(ToString::to_string).collect()
            }
        }
    }

    /// Uses settings at once, unless they take something away.
    fn judge(&mut self, config: Config, seen: Seen) -> Vec<String> {
        let lost = lost((&self.config, &self.seen), (&config, &seen));
        let hold = self.config.limits.reload.hold;
        if lost.is_empty() || self.held.has_settled(&seen, hold, Instant::now()) {
            self.held.give_up();
            self.take(config);
            self.seen = seen;
            return Vec::new();
        }
        let (lost, hold) = (lost.join(", "), humantime::format_duration(hold));
        tracing::warn!("the configuration stays as it was until its files have stood still for {hold}: without {lost}");
        vec![format!("waits until the files have stood still for {hold}, since this is not in them any more: {lost}")]
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
