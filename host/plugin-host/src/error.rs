//! Errors of plugins: while they are loaded, and while they are called.

use std::io;
use std::time::Duration;

use agentbay_domain::{DescriptionError, PlanError, PluginId, Sha256Sum};
use bytesize::ByteSize;

use super::signature::BadSignature;

/// Errors of compiling a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The bytes are not a valid component.
    #[error("is not a valid WebAssembly component: {0}")]
    Invalid(String),
    /// It took too long.
    #[error("took longer than {} to compile: raise `limits.plugin_compile_timeout` in proxy.toml if it needs more", humantime::format_duration(*.0))]
    TooLong(Duration),
    /// It took too much memory.
    #[error("takes more than {} of memory to compile: raise `limits.plugin_compile_memory` in proxy.toml if it needs more", ByteSize(*.0).display().iec())]
    TooMuchMemory(u64),
    /// The compiler crashed, or could not be started.
    #[error("cannot be compiled: {0}")]
    Failed(String),
}

/// Errors of loading a file as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// The path is not a plain file.
    #[error("is {0}: only plain files are accepted")]
    NotAFile(&'static str),
    /// The file system does not respond.
    #[error(
        "could not be read within {}: raise `limits.plugin_read_timeout` in proxy.toml if its file system is that slow",
        humantime::format_duration(*.0)
    )]
    ReadTimeout(Duration),
    /// The signature file is required and cannot be read.
    #[error("has a signature file, NAME.wasm.minisig, that {0}")]
    SignatureFile(String),
    /// Its content has changed since it was first read.
    #[error("has changed while it waited to be compiled: it is read again at the next scan")]
    Changed,
    /// The file is larger than `limits.plugin_file`.
    #[error("is larger than {limit} bytes: raise `limits.plugin_file` in proxy.toml if that is intended")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The component imports something from the host.
    #[error("imports {0}: a plugin imports nothing (build it for wasm32-unknown-unknown, without WASI)")]
    Imports(String),
    /// The component imports WASI, which is not permitted for it.
    #[error(
        "imports {0}: build it without WASI, or set `wasi = \"trap\"` in its [plugins.NAME] of proxy.toml if it never \
         calls that"
    )]
    Wasi(String),
    /// The component does not export the contract.
    #[error("does not export `agentbay:plugin/agent`: it was not built against the contract in wit/")]
    NoContract,
    /// The component was built against a line of the contract that this host does not support.
    #[error("was built against contract {found}, and this agentbay supports {supported}: {upgrade} must be updated")]
    Version {
        /// The version the component exports.
        found: String,
        /// The lines that this host supports.
        supported: String,
        /// The outdated side.
        upgrade: &'static str,
    },
    /// The types of the exported contract differ from ours.
    #[error("exports the contract with different types: {0}")]
    Types(String),
    /// The plugin failed when it was called while loading.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Its description is invalid.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// Its hash is not pinned.
    #[error(
        "is not pinned, and `plugins.require_pin` is set: `agentbay plugin add FILE` shows what it asks for and pins it \
         (its SHA-256 is {0})"
    )]
    Unpinned(Sha256Sum),
    /// It is not the pinned version.
    #[error("has the SHA-256 {found}, but [plugins.{id}] pins {pinned}: `agentbay plugin add FILE` pins the new one")]
    PinMismatch {
        /// Its id.
        id: PluginId,
        /// Its hash.
        found: Sha256Sum,
        /// The pinned hash.
        pinned: Sha256Sum,
    },
    /// There is no signature.
    #[error("is not signed by a key of `plugins.signed_by`: put the signature beside it, as NAME.wasm.minisig")]
    Unsigned,
    /// There is a signature, and it is not valid.
    #[error("has a signature that is not valid for any key of `plugins.signed_by`: {0}")]
    Signature(BadSignature),
    /// It requires more than it is granted.
    #[error("asks for {what} `{more}`, which is not granted: `agentbay plugin add FILE` updates [plugins.{id}]")]
    NotGranted {
        /// Its id.
        id: PluginId,
        /// The kind of permission.
        what: &'static str,
        /// The program or file that is not granted.
        more: String,
    },
    /// It was loaded under the settings of another plugin.
    #[error("has the id {id}, but its file is named after [plugins.{named}]: rename the file to {id}.wasm")]
    NameMismatch {
        /// The plugin that the file is named after.
        named: PluginId,
        /// Its id.
        id: PluginId,
    },
    /// It could not be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Another file has the same id, and neither is named after it, so neither is used.
    #[error("has the id {id}, and so has {other}: remove one of the two, or rename the right one to {id}.wasm")]
    DuplicateId {
        /// The id.
        id: PluginId,
        /// The other files.
        other: String,
    },
    /// Another file has the same id, and is named after it.
    #[error("has the id {id}, and so has {other}, which is used since it is named after the id: remove this file")]
    IdInUse {
        /// The id.
        id: PluginId,
        /// The other file.
        other: String,
    },
}

/// Errors of a call into a plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The plugin trapped, or exceeded a limit.
    #[error("the plugin failed in `{call}`: {reason}")]
    Trap {
        /// The function of the contract.
        call: &'static str,
        /// The trap or the limit.
        reason: String,
    },
    /// The plugin exceeded a limit with a turn long enough to be the cause.
    #[error(
        "the conversation is too long for the plugin: in `{call}` {reason}: shorten it, or raise that limit in proxy.toml"
    )]
    TooLarge {
        /// The function of the contract.
        call: &'static str,
        /// The limit.
        reason: String,
    },
    /// An earlier call failed or was cancelled, so that the instance cannot be called again.
    #[error("the plugin instance is no longer usable")]
    Unusable,
    /// The plugin returned a plan with which no process can be started.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The code of a built-in plugin cannot be made.
    #[error("the built-in plugin `{id}` cannot be used: it {error}: `POST /v1/plugins/reload` tries it again")]
    NotCompiled {
        /// Its id.
        id: PluginId,
        /// The reason.
        error: CompileError,
    },
}
