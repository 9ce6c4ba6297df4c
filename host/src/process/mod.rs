//! The only place that starts, feeds, ends and reaps processes. It knows nothing of plugins or HTTP.
//!
//! `program` finds the file, `environment` makes the variables, `child` is the process while it runs, and `capture` runs
//! a short one to its end.

mod capture;
mod child;
mod environment;
mod error;
mod program;

pub use capture::{Captured, capture};
pub use child::{Child, Command, Sign};
pub use environment::{HostVariables, Variables, changes_loading};
pub use error::SpawnError;
pub use program::{Executable, find};
