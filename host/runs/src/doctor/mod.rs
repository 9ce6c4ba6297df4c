//! Checks of a model without running it: the driver is loaded and supports the settings, the program is installed in a
//! version that the driver was tested with, and the repository exists.

mod version;

use std::fmt;
use std::sync::Arc;

use agentbay_domain::{CliTarget, Environment, Model, Target};
use agentbay_os::process::login_remarks;
use agentbay_plugin_host::Driver;
use agentbay_workspace::is_repository;
use futures_util::StreamExt;
use futures_util::stream::iter;
use serde::{Serialize, Serializer};
use tokio::task::spawn_blocking;

use crate::Snapshot;
use crate::backend::cli::{Finding, dry_run, executable};
pub use version::Versions;

/// The number of programs that are asked for their version at once.
const AT_ONCE: usize = 4;

/// The result of checking a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// The model's name.
    pub model: String,
    /// Its driver.
    pub driver: String,
    /// The file that a run would start.
    pub program: Option<String>,
    /// The version that the program reports.
    pub version: Option<String>,
    /// Whether the driver was tested with that version, if both are known.
    pub tested: Option<bool>,
    /// What keeps the model from running.
    pub faults: Vec<Fault>,
    /// What a user should know besides.
    pub notes: Vec<String>,
    /// How to log in.
    pub login_hint: String,
}

/// What keeps a model from running. It is written as `KEY: REASON`, in JSON too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The key of the settings that has to change.
    pub key: String,
    /// What is wrong, and what to do.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.reason)
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Checks all models, in the order of their names. Without `versions` no program is asked for its version.
pub async fn examine(snapshot: &Snapshot, host: &Environment, versions: Option<&Versions>) -> Vec<Examined> {
    let models: Vec<Arc<Model>> = snapshot.models.values().cloned().collect();
    let examined = iter(models).map(|model| async move { examine_one(snapshot, host, versions, &model).await });
    examined.buffered(AT_ONCE).collect().await
}

async fn examine_one(snapshot: &Snapshot, host: &Environment, versions: Option<&Versions>, model: &Model) -> Examined {
    let Target::Cli(target) = &model.target;
    let mut examined = Examined {
        model: model.name.clone(),
        driver: target.driver.to_string(),
        program: None,
        version: None,
        tested: None,
        faults: Vec::new(),
        notes: Vec::new(),
        login_hint: String::new(),
    };
    match snapshot.driver(&target.driver) {
        None => {
            let reason = format!(
                "the driver `{}` is not loaded: put its component into the plugin folder (`agentbay plugin add FILE`), or \
                 name another driver",
                target.driver
            );
            examined.faults.push(Fault { key: key(model, "driver"), reason });
        }
        Some(driver) => {
            examined.login_hint.clone_from(&driver.plugin.description().probe.login_hint);
            examined.examine_program(model, target, driver, host, versions).await;
            let own = snapshot.own.as_ref();
            for Finding { key: at, reason, is_doubtful } in dry_run(model, target, driver, host, own).await {
                let fault = Fault { key: at.map_or_else(|| of(model), |at| key(model, at)), reason };
                if is_doubtful {
                    examined.notes.push(fault.to_string());
                } else {
                    examined.faults.push(fault);
                }
            }
            // A program that the user names may be any CLI, so the switches may be meant for it.
            let knows_its_cli = target.program.is_none();
            examined.notes.extend(login_remarks(target.driver.as_str(), knows_its_cli, &target.env, host));
        }
    }
    examined.faults.extend(repository_fault(model, target).await);
    examined
}

impl Examined {
    async fn examine_program(
        &mut self,
        model: &Model,
        target: &CliTarget,
        driver: &Driver,
        host: &Environment,
        versions: Option<&Versions>,
    ) {
        let probe = &driver.plugin.description().probe;
        let executable = match executable(&model.name, target, driver, host) {
            Ok(executable) => executable,
            Err(reason) => {
                let hint = &probe.install_hint;
                let hint = if hint.is_empty() { String::new() } else { format!(" ({hint})") };
                self.faults.push(Fault { key: key(model, "program"), reason: format!("{reason}{hint}") });
                return;
            }
        };
        let program = executable.path().display().to_string();
        self.program = Some(program.clone());
        let Some(versions) = versions.filter(|_| !probe.version_args.is_empty()) else { return };
        match versions.of(&executable, &probe.version_args, target, host).await {
            Ok(version) => {
                self.tested = version::tested(&version, &probe.tested_versions);
                if self.tested == Some(false) {
                    self.notes.push(format!("version {version} is not among those the driver was tested with"));
                }
                self.version = Some(version);
            }
            Err(reason) => {
                let command = format!("{program} {}", probe.version_args.join(" "));
                let reason =
                    format!("`{command}` {reason}: try it in a shell, and install the CLI again if it fails there");
                self.faults.push(Fault { key: key(model, "program"), reason });
            }
        }
    }
}

/// The table of a model in the settings.
fn of(model: &Model) -> String {
    format!("models.{}", model.name)
}

fn key(model: &Model, key: &str) -> String {
    format!("{}.{key}", of(model))
}

/// Runs on a blocking thread, since the folder may be on a slow file system.
async fn repository_fault(model: &Model, target: &Arc<CliTarget>) -> Option<Fault> {
    let (worktree_key, target) = (key(model, "worktree"), Arc::clone(target));
    let examined = spawn_blocking(move || missing_repository(worktree_key, &target)).await;
    examined.unwrap_or_else(|lost| Some(Fault { key: of(model), reason: lost.to_string() }))
}

fn missing_repository(worktree_key: String, target: &CliTarget) -> Option<Fault> {
    let repo = target.repo.display();
    if !target.repo.is_dir() {
        let key = target.repo_key.clone();
        return Some(Fault { key, reason: format!("the repository {repo} does not exist") });
    }
    (target.worktree.is_some() && !is_repository(&target.repo)).then(|| Fault {
        key: worktree_key,
        reason: format!("{repo} is not a git repository, so no worktree can be made"),
    })
}
