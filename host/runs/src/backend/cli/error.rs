//! What can go wrong before a CLI has printed anything, and the failure that clients receive.

use std::ffi::OsStr;
use std::path::PathBuf;

use agentbay_domain::{Category, Failure, PluginId, RetryHint, terminal_safe_path};
use agentbay_os::process::{Obstacle, SpawnError};
use agentbay_plugin_host::{CallError, PluginSet};
use agentbay_workspace::WorkspaceError;

use super::system;
use crate::error::RETRY_AFTER_MS;

/// Why an attempt started no process, or lost its plugin.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// The model's driver is not among the plugins.
    #[error(transparent)]
    MissingPlugin(#[from] MissingPlugin),
    /// The request resumes a session, which the CLI cannot do.
    #[error("the driver `{driver}` cannot resume a session: leave the header `x-agent-session` out")]
    NoResume { driver: PluginId },
    /// The plugin refused the turn.
    #[error("{}", .0.message)]
    Refused(Failure),
    /// The plugin failed.
    #[error(transparent)]
    Plugin(#[from] CallError),
    /// The plugin's plan is not allowed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The repository, the worktree or a folder cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The run is no longer wanted.
    #[error("the run is no longer wanted")]
    Unwanted,
    /// The CLI cannot be started.
    #[error("{error}")]
    Spawn { error: SpawnError, install_hint: String },
}

/// Why a model has no plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum MissingPlugin {
    /// No plugin has the driver's name.
    #[error("the model `{model}` needs the driver `{driver}`, which is not loaded")]
    NotLoaded { model: String, driver: PluginId, loaded: String },
    /// The driver's file is new and still being compiled.
    #[error("the driver `{driver}` is still being compiled from {}: try again in a moment", terminal_safe_path(.file))]
    StillLoading { driver: PluginId, file: PathBuf },
}

impl MissingPlugin {
    pub(super) fn of(model: &str, driver: &PluginId, set: &PluginSet) -> Self {
        let driver = driver.clone();
        let is_its_own = |file: &PathBuf| {
            file.file_stem().and_then(OsStr::to_str).is_some_and(|stem| driver.matches_file_stem(stem))
        };
        match set.loading.iter().find(|file| is_its_own(file)).cloned() {
            Some(file) => Self::StillLoading { driver, file },
            None => {
                let loaded = set.drivers.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                Self::NotLoaded { model: model.to_owned(), driver, loaded }
            }
        }
    }
}

/// Why a plan is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PolicyError {
    /// The program is not among those that the plugin declares.
    #[error("the driver `{driver}` asks for the program `{program}`, which it does not declare")]
    Undeclared { driver: PluginId, program: String },
    /// The program is not granted to the driver.
    #[error(
        "the driver `{driver}` may not start `{program}`: to allow it, write `programs = [\"{program}\"]` into \
         [plugins.{driver}] of proxy.toml, or `program = \"{program}\"` into [models.{model}]"
    )]
    NotGranted { driver: PluginId, program: String, model: String },
    /// The driver has no program of its own, and the model names none.
    #[error(
        "the driver `{driver}` drives what the model names: write `program = \"…\"` into [models.{model}] of proxy.toml"
    )]
    NoProgram { driver: PluginId, model: String },
    /// The plan sets a variable that could bypass the grant.
    #[error(
        "the driver `{driver}` sets the variable `{name}`, which a plugin may not: set it in `env` of the model, if the CLI \
         needs it"
    )]
    Variable { driver: PluginId, name: String },
    /// The plan sets a variable that is not granted.
    #[error(
        "the driver `{driver}` sets the variable `{name}`, which is not granted: name it in `env` of [plugins.{driver}] in \
         proxy.toml if it may (`agentbay plugin add FILE` writes that table)"
    )]
    VariableNotGranted { driver: PluginId, name: String },
    /// The model is read-only, which its driver cannot enforce.
    #[error(
        "the driver `{driver}` cannot keep its CLI from writing, and `permission` of the model `{model}` is \"read-only\": \
         choose another driver, or write another `permission` into [models.{model}]"
    )]
    ReadOnly { driver: PluginId, model: String },
    /// The model names a vendor's model, which the driver cannot pass on.
    #[error(
        "the driver `{driver}` cannot choose the vendor's model: take `model` out of [models.{model}], or set the model \
         where its CLI reads it"
    )]
    ModelChoice { driver: PluginId, model: String },
    /// The driver has no such option.
    #[error("the driver `{driver}` has no option `{option}`: take it out of `options` in [models.{model}]")]
    Option { driver: PluginId, option: String, model: String },
    /// The CLI would send its requests to this server.
    #[error(
        "the variable `{name}` has the CLI of the driver `{driver}` ask this server itself, which would start it again: \
         unset it for AgentBay, or write `env = {{ {name} = false }}` into the model"
    )]
    Loop { driver: PluginId, name: String },
}

impl CliError {
    /// Whether another attempt makes sense: not if it would meet the same plugin that is still compiled, or the same git
    /// that hangs.
    pub(super) fn may_retry(&self) -> bool {
        !matches!(
            self,
            Self::MissingPlugin(MissingPlugin::StillLoading { .. })
                | Self::Workspace(WorkspaceError::TimedOut { .. })
                | Self::Unwanted
        )
    }

    /// What clients receive.
    pub(super) fn into_failure(self) -> Failure {
        let message = self.to_string();
        match self {
            Self::Refused(failure) => failure,
            Self::MissingPlugin(MissingPlugin::NotLoaded { loaded, .. }) => {
                let detail = format!(
                    "loaded: {loaded}. Put the driver's component into the plugin folder, or correct `driver` of the model"
                );
                Failure::new(Category::Configuration, message, detail)
            }
            Self::NoResume { .. } => Failure::new(Category::Validation, message, ""),
            Self::MissingPlugin(MissingPlugin::StillLoading { .. }) => {
                let retry = Some(RetryHint::AfterMs(RETRY_AFTER_MS));
                Failure { retry, ..Failure::new(Category::RateLimit, message, "") }
            }
            Self::Plugin(CallError::TooLarge { .. }) => Failure::new(Category::Validation, message, ""),
            Self::Plugin(_) => Failure::new(Category::Unknown, message, ""),
            Self::Policy(_) => Failure::new(Category::Configuration, message, ""),
            Self::Workspace(WorkspaceError::RepositoryMissing { .. }) => Failure::new(Category::NotFound, message, ""),
            Self::Workspace(WorkspaceError::TimedOut { .. }) => Failure::new(Category::Timeout, message, ""),
            Self::Unwanted => Failure::new(Category::Unknown, message, ""),
            Self::Workspace(_) => Failure::new(Category::Configuration, message, ""),
            Self::Spawn { error: SpawnError::NotFound { .. }, install_hint } => {
                let hint = if install_hint.is_empty() {
                    "Install it, or name its file in `program` of the model in proxy.toml".to_owned()
                } else {
                    format!("{install_hint}. If it is installed elsewhere, name its file in `program` of the model")
                };
                Failure::new(Category::NotFound, message, hint)
            }
            Self::Spawn { error: SpawnError::TooLong { .. } | SpawnError::TotalTooLong { .. }, .. } => Failure::new(
                Category::Validation,
                message,
                "shorten what is given to the CLI as an argument: the system message, or `options`",
            ),
            Self::Spawn { error: SpawnError::Refused { obstacle: Obstacle::Busy, .. }, .. } => {
                let retry = Some(RetryHint::AfterMs(system::BUSY_MS));
                Failure { retry, ..Failure::new(Category::Server, message, "") }
            }
            Self::Spawn { .. } => Failure::new(Category::Configuration, message, ""),
        }
    }
}
