//! The library for authors of AgentBay plugins.
//!
//! A plugin implements [`Agent`] (what the CLI is and how it is started) and [`Transcript`] (what its output means), and
//! exports both with [`export_agent!`]. It has no access to the machine: text goes in, values come out. Everything is plain
//! Rust, so its tests run natively; see [`testing`].
//!
//! In the order in which a plugin needs it:
//! - [`values`](finished): constructors for plans, outcomes and failures
//! - [`classify`]: the category of a failure, from the CLI's error text
//! - [`exit_outcome()`], [`StderrTail`]: the outcome of a process that ended without reporting the end of its turn
//! - [`is_command`], [`escape_command`]: prompts that the CLI must not take for one of its commands
//! - [`last_block`]: the answer in plain-text output
//! - [`json`]: access to fields that tolerates missing ones
//! - [`JsonReader`]: JSON objects in arbitrary output
//! - [`LineSplitter`] and [`AnswerText`]: lines in a text stream, and messages in an answer
//! - [`usage_of`]: token counts under the common names
//! - [`JsonLines`]: the transcript of a CLI that prints JSON events
//! - [`claude`]: the reader of Claude-like `stream-json`
//! - [`acp`]: the dialogue of the Agent Client Protocol
//! - [`roles`]: the reader of role lines, and the command line of CLIs that print them

pub mod acp;
mod agent;
mod answer_text;
mod background_tasks;
#[doc(hidden)]
pub mod bindings;
pub mod classify;
pub mod claude;
mod exit_outcome;
#[doc(hidden)]
pub mod export;
pub mod json;
mod json_lines;
mod lines;
mod plain;
mod prompt;
mod reader;
pub mod roles;
mod stderr;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
mod unrecognized;
mod usage;
mod values;

pub use agent::{Agent, Transcript};
pub use answer_text::AnswerText;
pub use background_tasks::BackgroundTasks;
pub use bindings::exports::agentbay::plugin::agent::{
    Category, Description, Event, ExitStatus, Extra, Failure, Features, Framing, Home, KillReason, Level, Model,
    Notice, Outcome, Permission, Plan, PlanFile, Probe, RetryHint, Stop, StreamName, ToolCall, ToolResult, Turn, Usage,
    UsageScope, WallClock,
};
pub use exit_outcome::{NO_OUTPUT, exit_outcome, failed_without_answer, outcome_without_output};
pub use json_lines::{JsonLines, Protocol};
pub use lines::LineSplitter;
pub use plain::{KEPT_BYTES, LastBlock, last_block};
pub use prompt::{escape_command, is_command};
pub use reader::{JsonReader, OBJECT_BYTES, Piece, TEXT_BYTES};
pub use serde_json::Value;
pub use stderr::StderrTail;
pub use usage::usage_of;
pub use values::{failed, finished, invalid_option, notice, parse_arguments, settle};
