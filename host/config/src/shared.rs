//! Settings that both `[defaults]` and a model accept.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use agentbay_domain::{Chores, CliTarget, EnvSetting, Keep, Model, Permission, PluginId, RunLimits, Worktree};

use super::policy::{self, PolicyTable};
use super::section::{Item, Section, join};
use super::show::{self, ShowTable};
use super::tree::Value;
use super::values::{self, AllowZero, Paths};

const AGENT_FILE: &str = "AGENTS.md";
const WORKTREES: &str = "/tmp/agenticllm";
const BASE: &str = "HEAD";
/// A run of an agent takes minutes; one that takes half an hour is most likely stuck.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Longer than a model thinks and most builds take; a CLI that is silent for longer has lost its connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);
const RETRIES: usize = 2;

/// The shared settings that were set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Shared {
    /// Set to an empty path if its value is faulty: a second fault that it is missing would mislead.
    pub(super) repo: Option<PathBuf>,
    /// Empty for no agent file.
    pub(super) agent_file: Option<PathBuf>,
    pub(super) worktree: Option<WorktreeSetting>,
    pub(super) policy: Option<PolicyTable>,
    pub(super) permission: Option<Permission>,
    pub(super) show: ShowTable,
    pub(super) timeout: Option<Duration>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) retries: Option<usize>,
    pub(super) fallback: Option<Vec<String>>,
    pub(super) chores: Option<Chores>,
    pub(super) max_runs: Option<NonZeroUsize>,
    pub(super) max_repo_runs: Option<NonZeroUsize>,
    pub(super) env: BTreeMap<String, EnvSetting>,
}

/// Whether a run has a worktree of its own, and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WorktreeSetting {
    Off,
    On(WorktreeTable),
}

/// The keys of `worktree` that were set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct WorktreeTable {
    dir: Option<PathBuf>,
    base: Option<String>,
    keep: Option<Keep>,
}

impl WorktreeTable {
    fn or(self, defaults: &Self) -> Self {
        Self {
            dir: self.dir.or_else(|| defaults.dir.clone()),
            base: self.base.or_else(|| defaults.base.clone()),
            keep: self.keep.or(defaults.keep),
        }
    }

    fn into_worktree(self) -> Worktree {
        Worktree {
            dir: self.dir.unwrap_or_else(|| WORKTREES.into()),
            base: self.base.unwrap_or_else(|| BASE.to_owned()),
            keep: self.keep.unwrap_or_default(),
        }
    }
}

impl Shared {
    /// Reads the settings of a section of proxy.toml.
    pub(super) fn read(section: &mut Section<'_>, paths: &Paths<'_>) -> Self {
        Self {
            repo: section.take("repo").map(|item| paths.resolve(&item).unwrap_or_default()),
            agent_file: section.take("agent_file").and_then(|item| item.text()).map(PathBuf::from),
            worktree: section.take("worktree").and_then(|item| worktree(&item, paths)),
            policy: section.take("policy").and_then(|item| item.section()).map(policy::read),
            permission: section.take("permission").and_then(|item| permission(&item)),
            show: section.take("show").and_then(|item| item.section()).map(show::read).unwrap_or_default(),
            timeout: section.take("timeout").and_then(|item| values::duration(&item, AllowZero::No)),
            idle_timeout: section.take("idle_timeout").and_then(|item| values::duration(&item, AllowZero::No)),
            retries: section.take("retries").and_then(|item| values::count(&item, AllowZero::Yes)),
            fallback: section.take("fallback").and_then(|item| names(&item)),
            chores: section.take("chores").and_then(|item| chores(&item)),
            max_runs: section.take("max_runs").and_then(|item| runs(&item)),
            max_repo_runs: section.take("max_repo_runs").and_then(|item| runs(&item)),
            env: section.take("env").and_then(|item| item.section()).map(environment).unwrap_or_default(),
        }
    }

    /// Adds the defaults for what is not set here, the environment variable by variable.
    pub(super) fn or(mut self, defaults: &Self) -> Self {
        for (name, setting) in &defaults.env {
            self.env.entry(name.clone()).or_insert_with(|| setting.clone());
        }
        let worktree = match (self.worktree, &defaults.worktree) {
            (Some(WorktreeSetting::On(own)), Some(WorktreeSetting::On(defaults))) => {
                Some(WorktreeSetting::On(own.or(defaults)))
            }
            (own, default) => own.or_else(|| default.clone()),
        };
        Self {
            repo: self.repo.or_else(|| defaults.repo.clone()),
            agent_file: self.agent_file.or_else(|| defaults.agent_file.clone()),
            worktree,
            policy: policy::or(self.policy, defaults.policy.as_ref()),
            permission: self.permission.or(defaults.permission),
            show: self.show.or(defaults.show),
            timeout: self.timeout.or(defaults.timeout),
            idle_timeout: self.idle_timeout.or(defaults.idle_timeout),
            retries: self.retries.or(defaults.retries),
            fallback: self.fallback.or_else(|| defaults.fallback.clone()),
            chores: self.chores.or_else(|| defaults.chores.clone()),
            max_runs: self.max_runs.or(defaults.max_runs),
            max_repo_runs: self.max_repo_runs.or(defaults.max_repo_runs),
            env: self.env,
        }
    }

    /// The target of a model with these settings, for a driver.
    pub(super) fn target(&self, model: &str, driver: PluginId) -> CliTarget {
        let agent_file = self.agent_file.clone().unwrap_or_else(|| AGENT_FILE.into());
        let worktree = match self.worktree.clone() {
            None | Some(WorktreeSetting::Off) => None,
            Some(WorktreeSetting::On(table)) => Some(table.into_worktree()),
        };
        CliTarget {
            driver,
            repo: self.repo.clone().unwrap_or_default(),
            repo_key: join(&join("models", model), "repo"),
            agent_file: Some(agent_file).filter(|file| !file.as_os_str().is_empty()),
            worktree,
            helpers: self.policy.clone().map(PolicyTable::into_helpers),
            model: None,
            program: None,
            permission: self.permission.unwrap_or_default(),
            show: self.show.into_show(),
            max_repo_runs: self.max_repo_runs.unwrap_or(NonZeroUsize::MIN),
            env: self.env.clone().into_iter().collect(),
            options: Vec::new(),
        }
    }

    /// The model with these settings.
    pub(super) fn into_model(self, name: &str, target: CliTarget, limits: RunLimits) -> Model {
        Model {
            name: name.to_owned(),
            target: target.into(),
            timeout: self.timeout.unwrap_or(TIMEOUT),
            idle_timeout: self.idle_timeout.unwrap_or(IDLE_TIMEOUT),
            retries: self.retries.unwrap_or(RETRIES),
            fallback: self.fallback.unwrap_or_default().into_iter().filter(|other| other != name).collect(),
            chores: self.chores.unwrap_or_default(),
            max_runs: self.max_runs,
            limits,
        }
    }
}

/// `true`, `false` or a table.
pub(super) fn worktree(item: &Item<'_>, paths: &Paths<'_>) -> Option<WorktreeSetting> {
    match item.value() {
        Value::Bool(true) => Some(WorktreeSetting::On(WorktreeTable::default())),
        Value::Bool(false) => Some(WorktreeSetting::Off),
        Value::Table(_) => {
            let mut section = item.section()?;
            let dir = section.take("dir").map(|item| paths.resolve(&item).unwrap_or_default());
            let base = section.take("base").and_then(|item| base(&item));
            let keep = section.take("keep").and_then(|item| keep(&item));
            section.finish();
            Some(WorktreeSetting::On(WorktreeTable { dir, base, keep }))
        }
        _ => {
            item.wrong_type("true, false or { dir = \"…\" }");
            None
        }
    }
}

/// A list of model names. Whether the models exist is checked when all models are known.
fn names(item: &Item<'_>) -> Option<Vec<String>> {
    Some(item.list()?.filter_map(|name| name.full_text().map(str::to_owned)).collect())
}

fn runs(item: &Item<'_>) -> Option<NonZeroUsize> {
    values::count(item, AllowZero::No).and_then(NonZeroUsize::new)
}

/// A name of a commit that git cannot mistake for an option.
fn base(item: &Item<'_>) -> Option<String> {
    let text = item.full_text()?;
    if text.starts_with('-') || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        item.fault(format!("{text:?} is not a name of a commit, such as \"main\" or \"origin/main\""));
        return None;
    }
    Some(text.to_owned())
}

fn keep(item: &Item<'_>) -> Option<Keep> {
    match item.text()? {
        "never" => Some(Keep::Never),
        "changed" => Some(Keep::Changed),
        "always" => Some(Keep::Always),
        other => {
            item.fault(format!("{other:?} is not one of \"never\", \"changed\", \"always\""));
            None
        }
    }
}

fn permission(item: &Item<'_>) -> Option<Permission> {
    match item.text()? {
        "read-only" => Some(Permission::ReadOnly),
        "workspace-write" => Some(Permission::WorkspaceWrite),
        "full-access" => Some(Permission::FullAccess),
        other => {
            item.fault(format!("{other:?} is not one of \"read-only\", \"workspace-write\", \"full-access\""));
            None
        }
    }
}

/// Whether a named model exists is checked when all models are known.
fn chores(item: &Item<'_>) -> Option<Chores> {
    match item.full_text()? {
        "answer" => Some(Chores::Answer),
        "refuse" => Some(Chores::Refuse),
        "run" => Some(Chores::Run),
        other => match other.strip_prefix("model:").filter(|name| !name.is_empty()) {
            Some(name) => Some(Chores::Model(name.to_owned())),
            None => {
                item.fault(format!("{other:?} is not one of \"answer\", \"refuse\", \"run\", \"model:NAME\""));
                None
            }
        },
    }
}

/// Values may be secrets: no fault shows one.
fn environment(section: Section<'_>) -> BTreeMap<String, EnvSetting> {
    let mut settings = BTreeMap::new();
    for (name, item) in section.into_items() {
        let setting = match item.value() {
            Value::Bool(true) => Some(EnvSetting::Pass),
            Value::Bool(false) => Some(EnvSetting::Remove),
            Value::Text(_) => item.text().map(|value| EnvSetting::Set(value.to_owned())),
            _ => {
                item.wrong_type("a string, true (pass it on) or false (remove it)");
                None
            }
        };
        if name.is_empty() || name.contains(['=', '\0']) {
            item.fault("the name of a variable must not be empty or contain `=` or NUL");
        }
        settings.extend(setting.map(|setting| (name.to_owned(), setting)));
    }
    settings
}
