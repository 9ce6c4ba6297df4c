//! One run, from a conversation to the end of its process.
//!
//! A run goes `route` → `prompt` → `policy` → `pipeline`, whose longest stage is the `pump`: bytes → `text` → events.

mod error;
mod pipeline;
mod plain;
mod policy;
mod prompt;
mod pump;
mod route;
mod runner;
mod tail;
mod text;

pub use error::UnknownModel;
pub use policy::executable;
pub use runner::{Ended, Request, Run, Runner, Step};
