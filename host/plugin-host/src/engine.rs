//! The one WebAssembly engine of the process: its settings, its compile cache, the thread that counts time, and what it
//! lends to plugins: the compiler for what strangers wrote, and the lane for calls that take long.

use std::path::Path;
use std::sync::Arc;

use super::compile::Compiler;
use super::epoch::start_ticker;
use super::health::Trouble;
use super::lane::Lane;
use super::observer::Observer;
use super::wasm::{self, EngineError};

/// The one engine of the process. A clone is the same engine.
#[derive(Clone)]
pub struct Engine {
    wasm: wasmtime::Engine,
    compiler: Arc<dyn Compiler>,
    lane: Lane,
    observer: Arc<dyn Observer>,
    trouble: Trouble,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    /// Sets the engine up, with compiled code kept in the folder `cache`, which is there and private to the user: what lies in
    /// it is run as native code. What strangers wrote is compiled by `compiler`, with the same cache.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub fn new(cache: &Path, compiler: Arc<dyn Compiler>, observer: Arc<dyn Observer>) -> Result<Self, EngineError> {
        let wasm = wasm::engine(cache)?;
        start_ticker(&wasm).map_err(EngineError::Threads)?;
        let lane = Lane::new().map_err(EngineError::Threads)?;
        Ok(Self { wasm, compiler, lane, observer, trouble: Trouble::default() })
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

    pub(super) fn observer(&self) -> &Arc<dyn Observer> {
        &self.observer
    }

    /// Tells when one of its plugins fails.
    pub(super) fn trouble(&self) -> &Trouble {
        &self.trouble
    }
}
