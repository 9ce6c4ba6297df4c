//! The plugin under test: loaded from its file as the host loads it, under the limits that the host would set.

use std::path::Path;
use std::sync::Arc;

use agentbay_config::Config;
use agentbay_domain::{Limits, PluginLimits, Turn, Wasi};
use agentbay_plugin_host::{
    CallError, Instance, LoadError, LoadedPlugin, Transcript, load_bytes_to_inspect, load_to_inspect, load_to_install,
};
use agentbay_runs::compiler;

use super::error::KitError;

/// The plugin under test.
#[derive(Debug)]
pub struct Subject {
    /// The plugin.
    pub plugin: LoadedPlugin,
    /// Its limits.
    pub limits: Limits,
}

impl Subject {
    /// Loads the plugin. The inner error is the host's refusal.
    ///
    /// # Errors
    /// There is no engine to load it with.
    pub(super) async fn load(config: &Config, file: &Path) -> Result<Result<Self, LoadError>, KitError> {
        let engine = compiler::engine(&config.plugins.cache, Arc::new(()))?;
        let loaded = load_to_inspect(&engine, file, &config.trust, &config.limits.plugin).await;
        Ok(loaded.map(|plugin| Self::under(config, plugin)))
    }

    /// Loads a plugin from bytes; `file` is its name in messages. The inner error is the host's refusal.
    ///
    /// # Errors
    /// There is no engine to load it with.
    pub(super) async fn load_bytes(
        config: &Config,
        file: &Path,
        bytes: Vec<u8>,
    ) -> Result<Result<Self, LoadError>, KitError> {
        let engine = compiler::engine(&config.plugins.cache, Arc::new(()))?;
        let loaded = load_bytes_to_inspect(&engine, file, bytes, &config.trust, &config.limits.plugin).await;
        Ok(loaded.map(|plugin| Self::under(config, plugin)))
    }

    /// Loads a third-party plugin for installation, with these limits.
    ///
    /// # Errors
    /// The host refuses it, or there is no engine to load it with.
    pub async fn load_to_add(config: &Config, file: &Path, own: PluginLimits, wasi: Wasi) -> Result<Self, KitError> {
        let engine = compiler::engine(&config.plugins.cache, Arc::new(()))?;
        let loaded = load_to_install(&engine, file, &config.trust.signers, &own, wasi).await;
        let plugin = loaded.map_err(|reason| KitError::Refused { file: file.to_owned(), reason })?;
        Ok(Self { plugin, limits: Limits { plugin: own, ..config.limits } })
    }

    fn under(config: &Config, plugin: LoadedPlugin) -> Self {
        let Config { trust, limits, .. } = config;
        let own = trust.limits_of(plugin.id(), limits.plugin);
        Self { plugin, limits: Limits { plugin: own, ..*limits } }
    }

    /// A fresh instance.
    pub(super) async fn instance(&self) -> Result<Instance, CallError> {
        self.plugin.instance(&self.limits.plugin).await
    }

    /// A transcript in a fresh instance.
    pub(super) async fn transcript(&self, turn: &Turn) -> Result<Transcript, CallError> {
        self.instance().await?.transcript(turn).await
    }
}
