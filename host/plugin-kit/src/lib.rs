//! Commands for authors of plugins and for their CI. A plugin is tested without a server.
//!
//! `check` loads the plugin as a `subject` and runs the `suite` on each recorded run, a `fixture`. The suite splits the output
//! by `chunking`, `corrupt`s it (a long run as a `sample`), and `replay`s it to events, many variants in `parallel`. It compares
//! them with the `golden` file, finds events that would be `dropped`, and collects everything in a `report`, with each
//! `difference`.
//!
//! `run` executes one turn with the real CLI and prints its `run_output`. `record` stores a run of a CLI as a fixture, after a
//! `scrub`. `new` writes a project from a `template`, and `pack` prepares a component for distribution (`strip`,
//! `required_grant`). `summarize` describes the plugins of the program itself.
//!
//! The code of a real run is reused: `runs::Cleaner` turns bytes into text, and a plugin instance turns text into events.

mod check;
mod chunking;
mod corrupt;
mod difference;
mod dropped;
mod error;
mod fixture;
mod golden;
mod new;
mod pack;
mod parallel;
mod record;
mod replay;
mod report;
mod required_grant;
mod run;
mod run_output;
mod sample;
mod scrub;
mod strip;
mod subject;
mod suite;
mod summarize;
mod template;

pub use check::{CheckOptions, Progress, check};
pub use error::KitError;
pub use new::Project;
pub use pack::{PackOptions, Packed, Stripped, pack};
pub use record::{RecordOptions, Recorded, record};
pub use report::CheckReport;
pub use required_grant::required_grant;
pub use run::{RunOptions, run};
pub use run_output::RunOutput;
pub use subject::Subject;
pub use summarize::summarize;
pub use template::{Language, UnknownLanguage};
