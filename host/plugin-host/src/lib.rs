//! WebAssembly: the engine, the plugins there are, and one run's instance of one.
//!
//! Data goes `scan` → `reader` (and `file`) → `terms` → `loading` (when `places` says so) → `load`, for each file of the `folder`,
//! → `catalogue`, and as a `driver` from there into an `instance`. No generated type leaves this crate, and nothing here
//! knows HTTP, processes, git or metrics.

mod abi;
mod catalogue;
mod compile;
mod driver;
mod embedded;
mod engine;
mod epoch;
mod error;
mod file;
mod folder;
mod handed;
mod health;
mod instance;
mod lane;
mod limits;
mod load;
mod loading;
mod observer;
mod places;
mod reader;
mod scan;
mod signature;
mod terms;
mod text;
mod wasm;

pub use abi::contracts;
pub use catalogue::{Catalogue, PluginSet, Refusal};
pub use compile::{Compiler, Compiling, Uncompiled, compile};
pub use driver::Driver;
pub use embedded::{embedded_ids, is_embedded};
pub use engine::Engine;
pub use error::{CallError, CompileError, LoadError};
pub use folder::Look;
pub use health::{Health, Trap, Trouble};
pub use instance::{Instance, Transcript};
pub use load::{LoadedPlugin, Origin};
pub use observer::Observer;
pub use signature::BadSignature;
pub use terms::{load_bytes_to_look_at, load_to_add, load_to_look_at};
pub use wasm::EngineError;
