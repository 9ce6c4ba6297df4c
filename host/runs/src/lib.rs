//! Runs, from a conversation to the outcome: what all runs share, and the backends that carry out one attempt each.
//!
//! The `runner` admits a run to the `registry`; its `pipeline` follows the `route` of the model: `queue`, then an attempt by a
//! `backend`, again as `retry` decides, then the fallbacks. The `delivery` of an attempt gives the answer the form that the
//! client asked for. The steps of a run reach its clients through the `feed`, while its `scope` lasts, and are an answer of
//! `parts`. `failures` remembers what would fail again.

mod backend;
pub mod compiler;
mod context;
mod delivery;
pub mod doctor;
mod error;
mod failures;
mod feed;
mod logins;
mod observer;
mod part_writer;
mod parts;
mod pipeline;
mod queue;
mod registry;
pub mod reload;
mod retry;
mod route;
mod runner;
mod scope;
mod snapshot;
mod step;
mod tasks;

/// What a snapshot says of plugins, in the types of `plugin-host`.
pub mod plugins {
    pub use agentbay_plugin_host::{Health, LoadedPlugin, Refusal, contracts};
}

pub use backend::cli::Cleaner;
pub use context::Request;
pub use delivery::InvalidSchema;
pub use error::{StartError, UnknownModel};
pub use observer::Observer;
pub use parts::{Answer, BlockKind, Joined, Parts};
pub use registry::{Identity, LiveRun, Phase, RequestKey};
pub use runner::{Run, Runner};
pub use snapshot::{Snapshot, Snapshots};
pub use step::{Ended, FailedAttempt, PluginFailed, Step};
pub use tasks::Tasks;
