//! What an author needs to write an AgentBay plugin.
//!
//! A plugin implements [`Agent`] (what the CLI is and how it is started) and [`Transcript`] (what its output means), and
//! hands them over with [`export_agent!`]. It touches nothing of the machine: text comes in, values go out. Everything is
//! plain Rust, so its tests run natively; see [`testing`].
//!
//! In the order a plugin meets it:
//! - [`values`](finished): short ways to make plans, outcomes, failures
//! - [`classify`]: what kind of failure a CLI speaks of
//! - [`ended`], [`StderrTail`]: the verdict on a process that ended without a word
//! - [`is_command`], [`without_command`]: a prompt that is no command of the CLI
//! - [`last_block`]: the plain-text rule
//! - [`json`]: tolerant access to fields
//! - [`JsonReader`]: JSON objects out of whatever a CLI prints
//! - [`LineCutter`] and [`Speech`]: lines out of text, messages out of text
//! - [`usage_beside`]: token counts under the usual names
//! - [`JsonLines`]: the transcript of a CLI that prints JSON events
//! - [`claude`]: the reader of Claude-like `stream-json`
//! - [`acp`]: the dialogue of the Agent Client Protocol
//! - [`roles`]: the reader of role lines, and the command line that goes with them

pub mod acp;
mod agent;
mod background;
#[doc(hidden)]
pub mod bindings;
pub mod classify;
pub mod claude;
mod ending;
#[doc(hidden)]
pub mod export;
pub mod json;
mod json_lines;
mod lines;
mod plain;
mod prompt;
mod reader;
pub mod roles;
mod speech;
mod stderr;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
mod unread;
mod usage;
mod values;

pub use agent::{Agent, Transcript};
pub use background::Background;
pub use bindings::exports::agentbay::plugin::agent::{
    Category, Description, Event, ExitStatus, Extra, Failure, Features, Framing, Home, KillReason, Level, Model,
    Notice, Outcome, Permission, Plan, PlanFile, Probe, RetryHint, Stop, StreamName, ToolCall, ToolResult, Turn, Usage,
    UsageScope, WallClock,
};
pub use ending::{NO_OUTPUT, ended, ended_without_answer, silent};
pub use json_lines::{JsonLines, Protocol};
pub use lines::LineCutter;
pub use plain::{KEPT_BYTES, LastBlock, last_block};
pub use prompt::{is_command, without_command};
pub use reader::{JsonReader, OBJECT_BYTES, Piece, TEXT_BYTES};
pub use serde_json::Value;
pub use speech::Speech;
pub use stderr::StderrTail;
pub use usage::usage_beside;
pub use values::{arguments, failed, finished, notice, settle, wrong_option};
