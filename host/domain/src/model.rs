//! A model that clients can name: what all models have in common, and the target that carries out its runs.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Chores, HelperScripts, Permission, PluginId, RunLimits};

/// What the configuration does with a variable of the CLI's environment.
#[derive(Clone, PartialEq, Eq)]
pub enum EnvSetting {
    /// It has this value.
    Set(String),
    /// It is passed on from the host's environment.
    Pass,
    /// It is removed.
    Remove,
}

/// Omits the value, which may be a secret.
impl fmt::Debug for EnvSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set(_) => "Set",
            Self::Pass => "Pass",
            Self::Remove => "Remove",
        })
    }
}

/// Where and how the worktrees of runs are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// The folder in which worktrees are made, private to the user.
    pub dir: PathBuf,
    /// What git is to make them from: a branch, a tag or another name of a commit.
    pub base: String,
    /// Which of them stay after their run. The work in them is saved in any case.
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

/// As what the clients of a model see something of its agent that is not the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownAs {
    /// The reasoning before the answer.
    Reasoning,
    /// Text of the answer.
    Text,
    /// Not at all.
    Nothing,
}

/// What the clients of a model see of its agent besides the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Show {
    /// The calls of its own tools. Never sent as calls, which clients would try to carry out.
    pub tools: ShownAs,
    /// Its reasoning.
    pub reasoning: ShownAs,
}

/// Clients hide reasoning or fold it up, and many send it back with the next request. Calls of tools can be many times as long
/// as the answer.
impl Default for Show {
    fn default() -> Self {
        Self { tools: ShownAs::Nothing, reasoning: ShownAs::Reasoning }
    }
}

/// A model that clients can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The name that clients use.
    pub name: String,
    /// What carries out its runs.
    pub target: Target,
    /// The longest time of a run, all attempts with this model together.
    pub timeout: Duration,
    /// The longest silence of a run.
    pub idle_timeout: Duration,
    /// The number of further attempts after a failed one.
    pub retries: usize,
    /// The models that replace it when it fails, in this order.
    pub fallback: Vec<String>,
    /// What is done with chores of its clients.
    pub chores: Chores,
    /// The number of its runs at once, if it has a limit of its own.
    pub max_runs: Option<NonZeroUsize>,
    /// What its runs may use.
    pub limits: RunLimits,
}

/// What carries out the runs of a model, with the settings of that kind alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A CLI agent in a repository. Shared by the runs of the model.
    Cli(Arc<CliTarget>),
}

/// A CLI agent in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliTarget {
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
    /// What the agent may add to the repository. Unset: the prompt does not mention it.
    pub helpers: Option<HelperScripts>,
    /// The vendor's model name.
    pub model: Option<String>,
    /// The file to start instead of the driver's program, or a bare name to find on PATH.
    pub program: Option<PathBuf>,
    /// What the agent may do without asking.
    pub permission: Permission,
    /// What clients see of the agent besides the answer.
    pub show: Show,
    /// The number of runs at once in the repository itself, of all models that work in it. Runs in worktrees do not count.
    pub max_repo_runs: NonZeroUsize,
    /// Variables of the CLI's environment.
    pub env: Vec<(String, EnvSetting)>,
    /// Options for the plugin.
    pub options: Vec<(String, String)>,
}

impl From<CliTarget> for Target {
    fn from(target: CliTarget) -> Self {
        Self::Cli(Arc::new(target))
    }
}
