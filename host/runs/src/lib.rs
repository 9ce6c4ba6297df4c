//! One run, from a conversation to the end of its process.
//!
//! A run is taken in by `live`, waits in the `queue`, and goes `route` → `pipeline` → `attempt`, once or, as `retry`
//! says, several times. An attempt goes `prompt` (of `piece`s) → `policy` → `pump`: bytes → `streams` → `reader` →
//! events → `replies`, which reach the client through the `feed` for as long as there is `interest`, and are an answer of
//! `parts`. The `text` of a stream is what a `terminal` of one `line` would leave; what the `system` refused a CLI is
//! known by its last words.

mod attempt;
pub mod compiler;
mod context;
pub mod doctor;
mod dry_run;
mod error;
mod explain;
mod failures;
mod feed;
mod interest;
mod line;
mod live;
mod logins;
mod notices;
mod observer;
mod options;
mod parts;
mod piece;
mod pipeline;
mod policy;
mod prompt;
mod pump;
mod queue;
mod reader;
pub mod reload;
mod replies;
mod rest;
mod retry;
mod route;
mod runner;
mod snapshot;
mod step;
mod streams;
mod system;
mod tail;
mod tasks;
mod terminal;
mod text;

/// What a snapshot says of plugins, in the types of `plugin-host`.
pub mod plugins {
    pub use agentbay_plugin_host::{Health, LoadedPlugin, Refusal, contracts};
}

pub use context::Request;
pub use dry_run::{Finding, dry_run};
pub use error::{StartError, UnknownModel};
pub use live::{Claim, Identity, LiveRun, Phase};
pub use observer::Observer;
pub use parts::{Answer, Joined, Parts};
pub use policy::executable;
pub use runner::{Run, Runner};
pub use snapshot::{Snapshot, Snapshots};
pub use step::{Ended, FailedTry, PluginFailed, Step};
pub use tasks::Tasks;
pub use text::Cleaner;
