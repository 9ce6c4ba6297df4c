//! AgentBay: a local proxy that makes any CLI coding agent answer as a model behind standard APIs.
//!
//! A request takes one way through the modules, and they stand here in its order:
//!
//! - [`http`] reads the request and writes the answer: one module a surface, one table from failures to answers;
//! - [`run`] carries it out: route, prompt, plan, policy, process, events, outcome;
//! - [`plugin`] asks the CLI's WebAssembly component for the command line and for the meaning of the output;
//! - [`workspace`] lends the repository or a git worktree, [`process`] starts the CLI and ends it;
//! - [`files`] writes the program's own files, [`domain`] is the vocabulary they all share.
//!
//! Around them, [`config`] reads the settings, [`watch`] tells when files have changed, [`look`] asks for a look at them,
//! [`task`] keeps the tasks, [`compiler`] has a process of its own for what strangers wrote, [`metrics`] counts, [`doctor`] tells what keeps a model from running, [`author`] is what the
//! author of a plugin works with, and [`app`] puts everything together. No module imports its caller.

pub mod app;
pub mod author;
pub mod cli;
pub mod compiler;
pub mod config;
pub mod doctor;
pub mod domain;
pub mod echo_agent;
pub mod files;
pub mod http;
pub mod look;
pub mod metrics;
pub mod plugin;
pub mod process;
pub mod run;
pub mod status;
pub mod task;
pub mod telemetry;
pub mod watch;
pub mod workspace;
