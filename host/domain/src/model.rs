//! A model that clients can name: a driver, a repository and how the two work together.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Helpers, Permission, PluginId, RunLimits};

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
    /// What git is to make them from: a branch, a tag or another name of a commit.
    pub base: String,
    /// Which of them stay after their run. What is in one is saved in any case.
    pub keep: Keep,
}

/// Which worktrees stay after their run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// None.
    #[default]
    Never,
    /// Those in which the run left something.
    Changed,
    /// All.
    Always,
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
    /// The key that names it in the settings, such as `models.NAME.repo`, or `NAME.repoPath` in models.json.
    pub repo_key: String,
    /// The file in the repository whose content begins the prompt.
    pub agent_file: Option<PathBuf>,
    /// Set if each run works in a worktree of its own.
    pub worktree: Option<Worktree>,
    /// What its agents may add to the repository, if they are to be told.
    pub helpers: Option<Helpers>,
    /// The vendor's model name.
    pub model: Option<String>,
    /// The file to start in place of the driver's program, or a bare name to look for on PATH.
    pub program: Option<PathBuf>,
    /// What the agent may do without asking.
    pub permission: Permission,
    /// How long a run may take in all, all tries with this model together.
    pub timeout: Duration,
    /// How long its CLI may say nothing.
    pub idle_timeout: Duration,
    /// How often a run that failed is tried again.
    pub retries: usize,
    /// The models that are tried in its place when it fails, in this order.
    pub fallback: Vec<String>,
    /// Runs of the model at once, if there is a limit of its own.
    pub max_runs: Option<NonZeroUsize>,
    /// Runs at once in the repository itself, of all models that work in it. A worktree of its own is not counted.
    pub repo_runs: NonZeroUsize,
    /// What its runs may use.
    pub limits: RunLimits,
    /// Variables of the CLI's environment.
    pub env: Vec<(String, EnvSetting)>,
    /// Options for the plugin.
    pub options: Vec<(String, String)>,
}
