//! Compiling components, and what there is to say if that fails.
//!
//! A compiler cannot be stopped, nor held to an amount of memory, and what it is given may be made to take much of both. So
//! what strangers wrote is compiled in a process apart first, which puts the code into the compile cache; here it is then
//! taken from there. Where the cache cannot be written, it is compiled here once more, of which is known by then that it
//! can be done. Who starts that process is not known here.

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

/// Compiles components apart from this process.
pub trait Compiler: fmt::Debug + Send + Sync {
    /// Compiles one, so that its code is in the cache. Broken off when it is dropped.
    fn compile<'a>(&'a self, component: Bytes, limits: &'a PluginLimits) -> Compiling<'a>;
}

/// What compiling comes to.
pub type Compiling<'a> = Pin<Box<dyn Future<Output = Result<(), CompileError>> + Send + 'a>>;

/// Why this process has compiled nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Uncompiled {
    /// The bytes are no valid component, for this reason.
    Invalid(String),
    /// There was not enough memory.
    NoMemory,
}

/// Compiles a component in this process, so that its code is in the cache.
///
/// # Errors
/// See [`Uncompiled`]. Where memory is wanting, the process may end instead.
pub fn compile(cache: &Path, component: &[u8]) -> Result<(), Uncompiled> {
    let engine = wasm::engine(cache).map_err(|error| Uncompiled::Invalid(error.to_string()))?;
    match Component::from_binary(&engine, component) {
        Ok(_in_the_cache) => Ok(()),
        Err(error) if error.chain().any(is_no_memory) => Err(Uncompiled::NoMemory),
        Err(invalid) => Err(Uncompiled::Invalid(one_line(&format!("{invalid:#}")))),
    }
}

fn is_no_memory(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<Errno>() == Some(&Errno::NOMEM) || cause.is::<wasmtime::OutOfMemory>()
}
