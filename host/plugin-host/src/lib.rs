//! The WebAssembly host: the engine, the loaded plugins, and the plugin instance of a run.
//!
//! Data flows `scan` → `reader` (and `file`) → `admission` → `loader` (ordered by `compile_queue`) → `load`, for each file of the
//! `folder`, → `catalogue`, and as a `driver` from there into an `instance`. `embedded` plugins are in the catalogue from the
//! start; their `code` is compiled when it is first needed. No generated type leaves this crate, and it does
//! not know HTTP, processes, git or metrics.

mod abi;
mod admission;
mod catalogue;
mod code;
mod compile;
mod compile_queue;
mod driver;
mod embedded;
mod engine;
mod epoch;
mod error;
mod executor;
mod file;
mod folder;
mod health;
mod instance;
mod limits;
mod load;
mod loader;
mod observer;
mod output_budget;
mod reader;
mod scan;
mod signature;
mod text;
mod wasm;

pub use abi::contracts;
pub use admission::{load_bytes_to_inspect, load_to_inspect, load_to_install};
pub use catalogue::{Catalogue, PluginSet, Refusal};
pub use compile::{CompileFailure, CompileFuture, Compiler, compile};
pub use driver::Driver;
pub use embedded::{Summary, SummaryError, embedded_ids, is_embedded};
pub use engine::Engine;
pub use error::{CallError, CompileError, LoadError};
pub use folder::ScanOptions;
pub use health::{FailureSignal, Health, Trap};
pub use instance::{Instance, Transcript};
pub use load::{LoadedPlugin, Origin};
pub use observer::Observer;
pub use signature::BadSignature;
pub use wasm::EngineError;
