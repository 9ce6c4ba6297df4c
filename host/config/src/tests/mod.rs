//! Whole files through [`load`](super::load): settings, faults, and defaults without a file.

mod faults;
mod files;
mod renamed;
mod sample;
mod settings;
mod show;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay_domain::{Chores, CliTarget, Environment, Model, Permission, PluginId, RunLimits, Show, Target};

use super::section::join;
use super::{Config, ConfigError, Models, Overrides, Source, load};

/// A folder with settings files, and where they are read from.
struct Folder {
    dir: tempfile::TempDir,
    source: Source,
}

impl Folder {
    /// A folder that holds these files; the user's home is /home/me.
    fn with(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let environment = Environment::from_pairs([("HOME", "/home/me")]);
        let source = Source { config: None, cwd: dir.path().to_owned(), environment };
        Self { dir, source }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn load(&self) -> Result<Config, ConfigError> {
        load(&self.source, &Overrides::default())
    }

    /// The models of valid settings.
    fn models(&self) -> Vec<Model> {
        match self.load().unwrap().models {
            Models::Configured(models) => models.into_values().collect(),
            Models::Discovered { .. } => panic!("nothing is configured"),
        }
    }

    /// The faults of invalid settings, as they are printed.
    fn faults(&self) -> Vec<String> {
        printed(&self.load().unwrap_err())
    }
}

fn printed(error: &ConfigError) -> Vec<String> {
    error.to_string().lines().map(str::to_owned).collect()
}

fn driver(name: &str) -> PluginId {
    PluginId::try_from(name.to_owned()).unwrap()
}

/// A model with the defaults.
fn model(name: &str, driven_by: &str, repo: impl Into<PathBuf>) -> Model {
    of_target(name, target(name, driven_by, repo))
}

/// A model of a target, with the defaults.
fn of_target(name: &str, target: CliTarget) -> Model {
    Model {
        name: name.to_owned(),
        target: target.into(),
        timeout: Duration::from_secs(1800),
        idle_timeout: Duration::from_secs(600),
        retries: 2,
        fallback: vec![],
        chores: Chores::Answer,
        max_runs: None,
        limits: RunLimits::default(),
    }
}

/// The target of that model.
fn target(model: &str, driven_by: &str, repo: impl Into<PathBuf>) -> CliTarget {
    CliTarget {
        driver: driver(driven_by),
        repo: repo.into(),
        repo_key: format!("{}.repo", join("models", model)),
        agent_file: Some("AGENTS.md".into()),
        worktree: None,
        helpers: None,
        model: None,
        program: None,
        permission: Permission::WorkspaceWrite,
        show: Show::default(),
        max_repo_runs: NonZeroUsize::MIN,
        env: vec![],
        options: vec![],
    }
}

/// The CLI behind a model.
fn cli(model: &Model) -> CliTarget {
    let Target::Cli(target) = &model.target;
    CliTarget::clone(target)
}
