//! What can go wrong with a plugin: while it is loaded, and while it is called.

use std::io;

use super::compile::CompileError;
use crate::domain::{DescriptionError, PlanError};

/// Why a file is not taken as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// The file is larger than `limits.plugin_file`.
    #[error("is larger than {limit} bytes: raise `limits.plugin_file` in proxy.toml if it is meant to be")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The bytes are no valid component.
    #[error("is no WebAssembly component: {0}")]
    NotAComponent(String),
    /// The component asks for something from the host.
    #[error("imports {0}: a plugin imports nothing (build it for wasm32-unknown-unknown, without WASI)")]
    Imports(String),
    /// The component does not export the contract.
    #[error("does not export `agentbay:plugin/agent`: it was not built against the contract in wit/")]
    NoContract,
    /// The component was built against a line of the contract that this host does not speak.
    #[error(
        "was built against contract {found}, and this agentbay speaks {supported}: {upgrade} must be brought up to date"
    )]
    Version {
        /// The version the component exports.
        found: String,
        /// The lines that this host speaks.
        supported: String,
        /// Which of the two is behind.
        upgrade: &'static str,
    },
    /// The exported contract has other types than ours.
    #[error("exports the contract with other types: {0}")]
    Types(String),
    /// The plugin failed when it was asked what it is for.
    #[error(transparent)]
    Call(#[from] CallError),
    /// What it says of itself cannot be used.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// The compiler made nothing of it.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Another file has the same id, so neither is taken.
    #[error("has the id {id}, and so has {other}: remove one of the two")]
    Twice {
        /// The id.
        id: String,
        /// The other file.
        other: String,
    },
}

/// Why a call into a plugin gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The plugin trapped, or ran into a limit.
    #[error("the plugin failed in `{call}`: {reason}")]
    Trap {
        /// The function of the contract.
        call: &'static str,
        /// The trap or the limit.
        reason: String,
    },
    /// An earlier call failed, or was broken off: what is left of the plugin cannot be called any more.
    #[error("the plugin cannot be asked any more")]
    Gone,
    /// The plugin made a plan that no process could be started with.
    #[error(transparent)]
    Plan(#[from] PlanError),
}
