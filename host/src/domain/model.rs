//! A model that clients can name: a driver, a repository and how the two work together.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::{Permission, PluginId};

/// What the configuration does with a variable of the CLI's environment.
#[derive(Clone, PartialEq, Eq)]
pub enum EnvSetting {
    /// It has this value.
    Set(String),
    /// It is passed on from the host's environment.
    Pass,
    /// It is taken away.
    Remove,
}

/// Without the value, which may be a secret.
impl fmt::Debug for EnvSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set(_) => "Set",
            Self::Pass => "Pass",
            Self::Remove => "Remove",
        })
    }
}

/// A run works in a git worktree of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// The folder in which worktrees are made, private to the user.
    pub dir: PathBuf,
}

/// A model that clients can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The name clients use.
    pub name: String,
    /// The plugin that drives the CLI.
    pub driver: PluginId,
    /// Absolute path of the repository.
    pub repo: PathBuf,
    /// The file in the repository whose content begins the prompt.
    pub agent_file: Option<PathBuf>,
    /// Set if each run works in a worktree of its own.
    pub worktree: Option<Worktree>,
    /// The vendor's model name.
    pub model: Option<String>,
    /// The file to start in place of the driver's program, or a bare name to look for on PATH.
    pub program: Option<PathBuf>,
    /// What the agent may do without asking.
    pub permission: Permission,
    /// How long a run may take in all.
    pub timeout: Duration,
    /// Variables of the CLI's environment.
    pub env: Vec<(String, EnvSetting)>,
    /// Options for the plugin.
    pub options: Vec<(String, String)>,
}
