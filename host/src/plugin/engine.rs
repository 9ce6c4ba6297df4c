//! The one WebAssembly engine of the process: its settings, its compile cache, the thread that counts time, and what it
//! lends to plugins: the compiler for what strangers wrote, and the lane for calls that take long.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use wasmtime::{Cache, CacheConfig, Config};

use super::compile::Compiler;
use super::health::Trouble;
use super::lane::Lane;
use crate::files::{FolderError, private_dir};
use crate::metrics::Metrics;

/// How often running plugins are looked at.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// How deep a plugin's calls may nest, in bytes. It is the engine's, so that it cannot be set for a plugin or while
/// plugins are loaded. A parser that needs more is one that its input can make recurse without end.
const STACK: usize = 512 * 1024;

/// The one engine of the process. A clone is the same engine.
#[derive(Clone)]
pub struct Engine {
    wasm: wasmtime::Engine,
    compiler: Arc<dyn Compiler>,
    lane: Lane,
    metrics: Metrics,
    trouble: Trouble,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The folder of the compile cache cannot be used: what lies in it is run as native code.
    #[error("cannot use the compile cache {0}; `plugins.cache` in proxy.toml names another folder")]
    Cache(FolderError),
    /// The thread that counts time, or those for calls that take long, cannot be started.
    #[error("cannot start the threads that plugins need: {0}")]
    Threads(io::Error),
    /// The engine does not take its settings on this machine.
    #[error("WebAssembly does not work on this machine: {0:#}")]
    Settings(wasmtime::Error),
}

impl Engine {
    /// Sets the engine up, with compiled code kept in `cache`, which is made private to the user. What strangers wrote is
    /// compiled by `compiler`, with the same cache. Failures of plugins are counted in `metrics`.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub fn new(cache: &Path, compiler: Arc<dyn Compiler>, metrics: Metrics) -> Result<Self, EngineError> {
        let wasm = wasm(cache)?;
        start_ticker(&wasm)?;
        let lane = Lane::new().map_err(EngineError::Threads)?;
        Ok(Self { wasm, compiler, lane, metrics, trouble: Trouble::default() })
    }

    pub(super) fn wasm(&self) -> &wasmtime::Engine {
        &self.wasm
    }

    pub(super) fn compiler(&self) -> &dyn Compiler {
        &*self.compiler
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.lane
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Tells when one of its plugins fails.
    pub(super) fn trouble(&self) -> &Trouble {
        &self.trouble
    }
}

/// An engine with the settings that all plugins are compiled with, and their code kept in `cache`.
///
/// # Errors
/// See [`EngineError`].
pub(super) fn wasm(cache: &Path) -> Result<wasmtime::Engine, EngineError> {
    let dir = cache.join("wasm");
    private_dir(&dir).map_err(EngineError::Cache)?;
    let mut cache = CacheConfig::new();
    cache.with_directory(dir);

    let mut config = Config::new();
    config.wasm_component_model(true);
    // Plugins are plain calls; without this they cost two to four times as much.
    config.concurrency_support(false);
    config.epoch_interruption(true);
    config.max_wasm_stack(STACK);
    config.cache(Some(Cache::new(cache).map_err(EngineError::Settings)?));
    wasmtime::Engine::new(&config).map_err(EngineError::Settings)
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
    thread::Builder::new().name("plugin-ticker".to_owned()).spawn(tick).map_err(EngineError::Threads)?;
    Ok(())
}
