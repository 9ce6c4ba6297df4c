//! The one WebAssembly engine of the process: its settings, its compile cache, the thread that counts time, and what plugins
//! share: the compiler for third party components, and the executor for long calls.

use std::path::Path;
use std::sync::Arc;

use super::compile::Compiler;
use super::epoch::start_ticker;
use super::executor::Executor;
use super::health::FailureSignal;
use super::observer::Observer;
use super::wasm::{self, EngineError};

/// The one engine of the process. A clone is the same engine.
#[derive(Clone)]
pub struct Engine {
    wasm: wasmtime::Engine,
    compiler: Arc<dyn Compiler>,
    executor: Executor,
    observer: Arc<dyn Observer>,
    failure_signal: FailureSignal,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    /// Creates the engine, with compiled code in the folder `cache`, which must exist and be private to the user: its content is
    /// run as native code. Third party components are compiled by `compiler`, with the same cache.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub fn new(cache: &Path, compiler: Arc<dyn Compiler>, observer: Arc<dyn Observer>) -> Result<Self, EngineError> {
        let wasm = wasm::engine(cache)?;
        start_ticker(&wasm).map_err(EngineError::Threads)?;
        let executor = Executor::new().map_err(EngineError::Threads)?;
        Ok(Self { wasm, compiler, executor, observer, failure_signal: FailureSignal::default() })
    }

    pub(super) fn wasm(&self) -> &wasmtime::Engine {
        &self.wasm
    }

    pub(super) fn compiler(&self) -> &dyn Compiler {
        &*self.compiler
    }

    pub(super) fn executor(&self) -> &Executor {
        &self.executor
    }

    pub(super) fn observer(&self) -> &Arc<dyn Observer> {
        &self.observer
    }

    /// Signals failures of its plugins.
    pub(super) fn failure_signal(&self) -> &FailureSignal {
        &self.failure_signal
    }
}
