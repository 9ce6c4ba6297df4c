//! Compiles components.
//!
//! The compiler cannot be stopped or limited in memory, and a component can be made to need much time and memory. So third
//! party components are first compiled in a separate process, which writes the code to the compile cache; this process then
//! reads it from there. If the cache cannot be written, the component is compiled here again, which is safe since the other
//! process succeeded within its limits. The caller provides that process.

use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use agentbay_domain::PluginLimits;
use bytes::Bytes;
use rustix::io::Errno;
use wasmtime::component::Component;

use super::error::CompileError;
use super::text::one_line;
use super::wasm;

/// Compiles components in a separate process.
pub trait Compiler: fmt::Debug + Send + Sync {
    /// Compiles a component, so that its code is in the cache. Dropping the future ends the compilation.
    fn compile<'a>(&'a self, component: Bytes, limits: &'a PluginLimits) -> CompileFuture<'a>;
}

/// The future of a compilation.
pub type CompileFuture<'a> = Pin<Box<dyn Future<Output = Result<(), CompileError>> + Send + 'a>>;

/// Errors of compiling in this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompileFailure {
    /// The bytes are not a valid component, for this reason.
    Invalid(String),
    /// There was not enough memory.
    NoMemory,
}

/// Compiles a component in this process, so that its code is in the cache.
///
/// # Errors
/// See [`CompileFailure`]. If memory runs out, the process may end instead.
pub fn compile(cache: &Path, component: &[u8]) -> Result<(), CompileFailure> {
    let engine = wasm::engine(cache).map_err(|error| CompileFailure::Invalid(error.to_string()))?;
    match Component::from_binary(&engine, component) {
        Ok(_in_the_cache) => Ok(()),
        Err(error) if error.chain().any(is_no_memory) => Err(CompileFailure::NoMemory),
        Err(invalid) => Err(CompileFailure::Invalid(one_line(&format!("{invalid:#}")))),
    }
}

fn is_no_memory(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<Errno>() == Some(&Errno::NOMEM) || cause.is::<wasmtime::OutOfMemory>()
}
