//! The settings that all plugins are compiled with.

use std::io;
use std::path::Path;

use wasmtime::{Cache, CacheConfig, Config};

/// How deep a plugin's calls may nest, in bytes. It is the engine's, so that it cannot be set for a plugin or while
/// plugins are loaded. A parser that needs more is one that its input can make recurse without end.
const STACK: usize = 512 * 1024;

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The thread that counts time, or those for calls that take long, cannot be started.
    #[error("cannot start the threads that plugins need: {0}")]
    Threads(io::Error),
    /// The engine does not take its settings on this machine.
    #[error("WebAssembly does not work on this machine: {0:#}")]
    Settings(wasmtime::Error),
}

/// An engine with the settings that all plugins are compiled with, and their code kept in `cache`.
///
/// # Errors
/// See [`EngineError`].
pub(super) fn engine(cache: &Path) -> Result<wasmtime::Engine, EngineError> {
    let mut kept = CacheConfig::new();
    kept.with_directory(cache);

    let mut config = Config::new();
    config.wasm_component_model(true);
    // Plugins are plain calls; without this they cost two to four times as much.
    config.concurrency_support(false);
    config.epoch_interruption(true);
    config.max_wasm_stack(STACK);
    config.cache(Some(Cache::new(kept).map_err(EngineError::Settings)?));
    wasmtime::Engine::new(&config).map_err(EngineError::Settings)
}
