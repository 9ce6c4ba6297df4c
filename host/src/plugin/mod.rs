//! WebAssembly: the engine, the plugins there are, and one run's instance of one.
//!
//! Data goes `scan` → `reader` (and `file`) → `terms` → `loading` (when `places` says so) → `load`, for each file of the `folder`,
//! → `catalogue` → `snapshot`, and as a `driver` from there into an `instance`. No generated type leaves
//! this module, and nothing here knows HTTP, processes or git.

mod abi;
mod catalogue;
mod compile;
mod driver;
mod embedded;
mod engine;
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
mod places;
mod reader;
mod scan;
mod snapshot;
mod strip;
mod terms;

pub use abi::contracts;
pub use catalogue::{Catalogue, PluginSet, Refusal};
pub use compile::{CompileError, Compiler, Compiling, Uncompiled, compile};
pub use driver::Driver;
pub use embedded::{embedded_ids, is_embedded};
pub use engine::{Engine, EngineError};
pub use error::{CallError, LoadError};
pub use folder::Look;
pub use health::{Health, Trap, Trouble};
pub use instance::{Instance, Transcript};
pub use load::{LoadedPlugin, Origin};
pub use snapshot::{Snapshot, Snapshots};
pub use strip::stripped;
pub use terms::{load_bytes_to_look_at, load_to_add, load_to_look_at};
