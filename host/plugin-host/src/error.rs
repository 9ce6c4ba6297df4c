//! What can go wrong with a plugin: while it is loaded, and while it is called.

use std::io;
use std::time::Duration;

use agentbay_domain::{DescriptionError, PlanError, PluginId, Sha256Sum};
use bytesize::ByteSize;

use super::signature::BadSignature;

/// Why there is nothing compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The bytes are no valid component.
    #[error("is no WebAssembly component: {0}")]
    Invalid(String),
    /// It took too long.
    #[error("took longer than {} to compile: raise `limits.plugin_compile` in proxy.toml if it needs more", humantime::format_duration(*.0))]
    TooLong(Duration),
    /// It took too much memory.
    #[error("takes more than {} of memory to compile: raise `limits.plugin_compile_memory` in proxy.toml if it needs more", ByteSize(*.0).display().iec())]
    TooMuch(u64),
    /// The compiler crashed, or could not be started.
    #[error("cannot be compiled: {0}")]
    Failed(String),
}

/// Why a file is not taken as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// Something else than a file lies there.
    #[error("is {0}, and only a plain file can be taken")]
    NotAFile(&'static str),
    /// The file system does not answer.
    #[error(
        "could not be read within {}: raise `limits.plugin_read` in proxy.toml if its file system is that slow",
        humantime::format_duration(*.0)
    )]
    NoAnswer(Duration),
    /// The signature beside the file cannot be read, though it is needed.
    #[error("has a signature beside it, NAME.wasm.minisig, that {0}")]
    SignatureFile(String),
    /// Other bytes are in it now than when it was read first.
    #[error("has changed while it waited to be compiled: it is read once more at the next look")]
    Changed,
    /// The file is larger than `limits.plugin_file`.
    #[error("is larger than {limit} bytes: raise `limits.plugin_file` in proxy.toml if it is meant to be")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The component asks for something from the host.
    #[error("imports {0}: a plugin imports nothing (build it for wasm32-unknown-unknown, without WASI)")]
    Imports(String),
    /// The component asks for WASI, and it was not said that this may be.
    #[error(
        "imports {0}: build it without WASI, or say `wasi = \"trap\"` in its [plugins.NAME] of proxy.toml, if it never \
         calls that"
    )]
    Wasi(String),
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
    /// Nobody has written its hash down.
    #[error(
        "is not pinned, and `plugins.require_pin` is set: `agentbay plugin add FILE` shows what it asks for and pins it \
         (its SHA-256 is {0})"
    )]
    Unpinned(Sha256Sum),
    /// It is not the version that was pinned.
    #[error("has the SHA-256 {found}, and [plugins.{id}] pins {pinned}: `agentbay plugin add FILE` pins the new one")]
    OtherThanPinned {
        /// Its id.
        id: PluginId,
        /// Its hash.
        found: Sha256Sum,
        /// The hash that it should have.
        pinned: Sha256Sum,
    },
    /// There is no signature that counts.
    #[error("is not signed by a key of `plugins.signed_by`: put the signature beside it, as NAME.wasm.minisig")]
    Unsigned,
    /// There is a signature, and it does not hold.
    #[error("has a signature that holds for no key of `plugins.signed_by`: {0}")]
    Signature(BadSignature),
    /// It asks for more than it may.
    #[error(
        "asks for {what} `{more}`, which nobody has granted: `agentbay plugin add FILE` writes [plugins.{id}] anew"
    )]
    NotGranted {
        /// Its id.
        id: PluginId,
        /// What kind of thing it asks for.
        what: &'static str,
        /// What it asks for.
        more: String,
    },
    /// It was loaded on the terms of another plugin.
    #[error("has the id {id}, but its file is named after [plugins.{named}]: rename the file to {id}.wasm")]
    OtherName {
        /// The plugin that the file is named after.
        named: PluginId,
        /// Its id.
        id: PluginId,
    },
    /// Nothing came of compiling it.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Another file has the same id, and neither is named after it, so neither is taken.
    #[error("has the id {id}, and so has {other}: remove one of the two, or name the right one {id}.wasm")]
    Twice {
        /// The id.
        id: PluginId,
        /// The other files.
        other: String,
    },
    /// Another file has the same id, and is named after it.
    #[error("has the id {id}, and so has {other}, which is taken since it is named after it: remove this one")]
    Second {
        /// The id.
        id: PluginId,
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
    /// The plugin ran into a limit with a turn so long that this may be the reason.
    #[error(
        "the conversation is too long for the plugin: in `{call}` {reason}: shorten it, or raise that limit in proxy.toml"
    )]
    TooLarge {
        /// The function of the contract.
        call: &'static str,
        /// The limit.
        reason: String,
    },
    /// An earlier call failed, or was broken off: what is left of the plugin cannot be called any more.
    #[error("the plugin cannot be asked any more")]
    Gone,
    /// The plugin made a plan that no process could be started with.
    #[error(transparent)]
    Plan(#[from] PlanError),
}
