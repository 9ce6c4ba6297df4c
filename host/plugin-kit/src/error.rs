//! Errors that stop a plugin author's command. A defect of the plugin itself is a result of the command instead.

use std::io;
use std::path::PathBuf;

use agentbay_config::ConfigError;
use agentbay_domain::PluginId;
use agentbay_os::process::SpawnError;
use agentbay_plugin_host::LoadError;
use agentbay_runs::compiler::NoEngine;

/// An error that stops a plugin author's command.
#[derive(Debug, thiserror::Error)]
pub enum KitError {
    /// The configuration has faults.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// WebAssembly cannot be used.
    #[error(transparent)]
    Engine(#[from] NoEngine),
    /// A folder holds no recorded run.
    #[error(
        "{0}: no recorded run: a folder with `stdout`, `stderr` and `meta.json`, or one with such folders in it \
         (`agentbay plugin record` makes them)"
    )]
    NoFixture(PathBuf),
    /// The `meta.json` of a recorded run cannot be parsed.
    #[error("{path}: {reason}")]
    Meta {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The host refuses to load the plugin.
    #[error("{file}: {reason}")]
    Refused {
        /// Its file.
        file: PathBuf,
        /// The reason.
        reason: LoadError,
    },
    /// The plugin wants to start a program that is not granted.
    #[error(
        "the plugin wants to start `{program}`: to allow it, add `--allow {program}`, or `--program FILE` to start that \
         file instead"
    )]
    NotGranted {
        /// The program.
        program: String,
    },
    /// The plugin declares no program and leaves the choice to the configuration.
    #[error("the plugin names no program: add `--program FILE`")]
    NoProgram,
    /// The turn could not be started.
    #[error("the turn cannot be started: {0}")]
    NotStarted(String),
    /// The output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Show(io::Error),
    /// An embedded plugin has this name.
    #[error("`{name}` is the name of an embedded plugin: choose another name")]
    NameTaken {
        /// The name.
        name: PluginId,
    },
    /// The binary carries no template of this language.
    #[error("this agentbay was built without the template of a plugin in {language}")]
    NoTemplate {
        /// The language.
        language: &'static str,
    },
    /// The target folder of a new project is not empty.
    #[error("{0} is not empty: choose another folder with --dir")]
    NotEmpty(PathBuf),
    /// The target folder of a recording exists.
    #[error("{0} already exists: choose another folder with --out, or remove it")]
    Exists(PathBuf),
    /// The CLI cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user interrupted the command. The text states the result.
    #[error("interrupted: {0}")]
    Interrupted(&'static str),
    /// The CLI printed more than the output limit of a run.
    #[error("the CLI printed more than {most} bytes: nothing was recorded")]
    TooMuch {
        /// The limit, in bytes.
        most: u64,
    },
    /// The patterns for scrubbing cannot be compiled.
    #[error("nothing was recorded, because it cannot be scrubbed: {0}")]
    Scrub(regex::Error),
    /// The command lines of a plugin are wrong, so it is not packed.
    #[error("{file}: {fault}: `agentbay plugin check` shows the details")]
    Unfit {
        /// Its file.
        file: PathBuf,
        /// The first fault.
        fault: String,
    },
    /// The stripped component is not the same plugin.
    #[error("{file}: stripped, it is not the same plugin, so pack it without --strip: {reason}")]
    NotStripped {
        /// Its file.
        file: PathBuf,
        /// What differs.
        reason: String,
    },
    /// The plugin's version cannot be part of a file name.
    #[error(
        "the plugin's version {version:?} cannot be part of a file name: use letters, digits, `.`, `-`, `+` and `_` only"
    )]
    Version {
        /// The version.
        version: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The path.
        path: PathBuf,
        /// The I/O error.
        error: io::Error,
    },
}

impl KitError {
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}
