//! The one WebAssembly engine of the process: its settings, its compile cache and the thread that counts time.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;
use std::{io, thread};

use wasmtime::{Cache, CacheConfig, Config};

/// How often running plugins are looked at. Budgets are counted in these.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// The one engine of the process. A clone is the same engine.
#[derive(Clone)]
pub struct Engine(wasmtime::Engine);

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The folder of the compile cache cannot be made.
    #[error(
        "cannot make the folder of the compile cache: {0}: set `plugins.cache` in proxy.toml to one that can be written"
    )]
    Cache(io::Error),
    /// The thread that counts time cannot be started.
    #[error("cannot start the thread that counts plugins' time: {0}")]
    Ticker(io::Error),
    /// The engine does not take its settings on this machine.
    #[error("WebAssembly does not work on this machine: {0:#}")]
    Settings(wasmtime::Error),
}

impl Engine {
    /// Sets the engine up, with compiled code kept in `cache`, which is made private to the user.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub fn new(cache: &Path) -> Result<Self, EngineError> {
        let dir = cache.join("wasm");
        DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(EngineError::Cache)?;
        let mut cache = CacheConfig::new();
        cache.with_directory(dir);

        let mut config = Config::new();
        config.wasm_component_model(true);
        // Plugins are plain calls; without this they cost two to four times as much.
        config.concurrency_support(false);
        config.epoch_interruption(true);
        config.cache(Some(Cache::new(cache).map_err(EngineError::Settings)?));

        let engine = wasmtime::Engine::new(&config).map_err(EngineError::Settings)?;
        start_ticker(&engine)?;
        Ok(Self(engine))
    }

    pub(super) fn wasm(&self) -> &wasmtime::Engine {
        &self.0
    }
}

/// An OS thread rather than a task: a busy runtime would starve a task just when it is needed. It ends with the engine.
fn start_ticker(engine: &wasmtime::Engine) -> Result<(), EngineError> {
    let engine = engine.weak();
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("plugin-ticker".to_owned()).spawn(tick).map_err(EngineError::Ticker)?;
    Ok(())
}
