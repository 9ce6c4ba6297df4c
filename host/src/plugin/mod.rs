//! WebAssembly: the engine, the plugins there are, and one run's instance of one.
//!
//! Data goes `scan` → `load` → `catalogue` → `snapshot`, and from there into an `instance`. No generated type leaves
//! this module, and nothing here knows HTTP, processes or git.

mod abi;
mod catalogue;
mod embedded;
mod engine;
mod error;
mod instance;
mod limits;
mod load;
mod scan;
mod snapshot;

pub use catalogue::{Catalogue, PluginSet, Refusal};
pub use embedded::{embedded_ids, is_embedded};
pub use engine::{Engine, EngineError};
pub use error::{CallError, LoadError};
pub use instance::{Instance, Transcript};
pub use load::{LoadedPlugin, Origin, Sha256Sum};
pub use snapshot::{Snapshot, Snapshots};
