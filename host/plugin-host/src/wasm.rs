//! The settings that all plugins are compiled with.

use std::io;
use std::path::Path;

use wasmtime::{Cache, CacheConfig, Config};

/// Stack size of a plugin's calls, in bytes. It is a setting of the engine, so it cannot be set for one plugin or while
/// plugins are loaded. A parser that needs more recurses without limit on some inputs.
const STACK: usize = 512 * 1024;

/// Errors of creating the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The thread that counts time, or those for long calls, cannot be started.
    #[error("cannot start the threads that plugins need: {0}")]
    Threads(io::Error),
    /// The engine does not support its settings on this machine.
    #[error("WebAssembly does not work on this machine: {0:#}")]
    Settings(wasmtime::Error),
}

/// An engine with the settings that all plugins are compiled with, and their code in `cache`.
///
/// # Errors
/// See [`EngineError`].
pub(super) fn engine(cache: &Path) -> Result<wasmtime::Engine, EngineError> {
    let mut kept = CacheConfig::new();
    kept.with_directory(cache);

    let mut config = Config::new();
    config.wasm_component_model(true);
    // Plugins need plain calls only; with concurrency support a call costs two to four times as much.
    config.concurrency_support(false);
    config.epoch_interruption(true);
    config.max_wasm_stack(STACK);
    config.cache(Some(Cache::new(kept).map_err(EngineError::Settings)?));
    wasmtime::Engine::new(&config).map_err(EngineError::Settings)
}
