//! Why an author's command cannot be carried out. What is wrong with a plugin is no such error, but a result.

use std::io;
use std::path::PathBuf;

use agentbay_config::ConfigError;
use agentbay_domain::PluginId;
use agentbay_os::process::SpawnError;
use agentbay_plugin_host::LoadError;
use agentbay_runs::compiler::NoEngine;

/// Why an author's command cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum AuthorError {
    /// The configuration has faults.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// WebAssembly cannot be used.
    #[error(transparent)]
    Engine(#[from] NoEngine),
    /// There is nothing recorded in a folder.
    #[error(
        "{0}: no recorded run: a folder with `stdout`, `stderr` and `meta.json`, or one with such folders in it \
         (`agentbay plugin record` makes them)"
    )]
    NoFixture(PathBuf),
    /// The description of a recorded run cannot be understood.
    #[error("{path}: {reason}")]
    Meta {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The plugin is not one that the host would take.
    #[error("{file}: {reason}")]
    Refused {
        /// Its file.
        file: PathBuf,
        /// Why not.
        reason: LoadError,
    },
    /// The plugin wants to start a program that nobody granted.
    #[error(
        "the plugin wants to start `{program}`: to let it, add `--allow {program}`, or `--program FILE` to have that file \
         started in its place"
    )]
    NotGranted {
        /// The program.
        program: String,
    },
    /// The plugin leaves it to the configuration which program it is.
    #[error("the plugin names no program: add `--program FILE`")]
    NoProgram,
    /// The turn was not begun.
    #[error("the turn cannot be begun: {0}")]
    NotStarted(String),
    /// What there is to tell cannot be written.
    #[error("cannot write to standard output: {0}")]
    Show(io::Error),
    /// A plugin of the program has the name.
    #[error("`{name}` is a plugin that is part of agentbay: choose another name")]
    NameTaken {
        /// The name.
        name: PluginId,
    },
    /// The program carries no template of this language.
    #[error("this agentbay was built without the template of a plugin in {language}")]
    NoTemplate {
        /// The language.
        language: &'static str,
    },
    /// A project is not put among other files.
    #[error("{0} is not empty: choose another folder with --dir")]
    NotEmpty(PathBuf),
    /// A recorded run is not written over.
    #[error("{0} is there already: choose another folder with --out, or remove it")]
    Exists(PathBuf),
    /// The CLI cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user ended it. What became of it is said.
    #[error("interrupted: {0}")]
    Interrupted(&'static str),
    /// The CLI printed more than a run may.
    #[error("the CLI printed more than {most} bytes: nothing was recorded")]
    TooMuch {
        /// The most, in bytes.
        most: u64,
    },
    /// There is no way to look for what is to be taken out of a recording.
    #[error("nothing was recorded, for it cannot be scrubbed: {0}")]
    Scrub(regex::Error),
    /// The command lines of a plugin are wrong, so it is not packed.
    #[error("{file}: {fault}: `agentbay plugin check` tells more")]
    Unfit {
        /// Its file.
        file: PathBuf,
        /// The first fault.
        fault: String,
    },
    /// A plugin is not the same without what was to be taken out of it.
    #[error("{file}: stripped, it is not the same plugin, so pack it without --strip: {reason}")]
    NotStripped {
        /// Its file.
        file: PathBuf,
        /// What is the matter with it then.
        reason: String,
    },
    /// A version that cannot be a part of a file's name.
    #[error("the plugin's version is {version:?}: to be packed, it takes letters, digits, `.`, `-`, `+` and `_`")]
    Version {
        /// The version.
        version: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

impl AuthorError {
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}
