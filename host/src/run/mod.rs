//! One run, from a conversation to the end of its process.
//!
//! A run is taken in by `live`, waits in the `queue`, and goes `route` → `pipeline` → `attempt`, once or, as `retry`
//! says, several times. An attempt goes `prompt` (of `piece`s) → `policy` → `pump`: bytes → `streams` → `reader` → events, which
//! reach whoever listens through the `feed` for as long as there is `interest`. The `text` of a stream is what a `terminal` of
//! one `line` would leave; what the `system` refused a CLI is known by its last words.

mod attempt;
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
mod options;
mod piece;
mod pipeline;
mod policy;
mod prompt;
mod pump;
mod queue;
mod reader;
mod rest;
mod retry;
mod route;
mod runner;
mod streams;
mod system;
mod tail;
mod terminal;
mod text;

pub use dry_run::{Finding, dry_run};
pub use error::{StartError, UnknownModel};
pub use live::{Claim, FailedTry, Identity, LiveRun, Phase, PluginFailed};
pub use policy::executable;
pub use runner::{Ended, Request, Run, Runner, Step};
pub use text::Cleaner;
