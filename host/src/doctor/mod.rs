//! What can be known of a model without running it: whether its driver is loaded, its program installed, in a version
//! that the driver was tested with, and its repository there. What running it tells is the caller's to find out.

mod version;

use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::iter;
use serde::Serialize;

use crate::domain::Model;
use crate::plugin::Snapshot;
use crate::process::HostVariables;
use crate::run;
pub use version::Versions;

/// How many programs are asked for their version at once.
const AT_ONCE: usize = 4;

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// The model's name.
    pub model: String,
    /// Its driver.
    pub driver: String,
    /// The file that a run would start.
    pub program: Option<String>,
    /// What the program says its version is.
    pub version: Option<String>,
    /// Whether the driver was tested with that version; unknown if either says nothing.
    pub tested: Option<bool>,
    /// What keeps the model from running.
    pub faults: Vec<String>,
    /// How to log in, for whoever finds that it is needed.
    pub login_hint: String,
}

impl Examined {
    /// A remark on the version, if there is something to remark.
    pub fn remark(&self) -> Option<String> {
        let version = self.version.as_deref()?;
        (self.tested == Some(false)).then(|| format!("version {version} is not among those the driver was tested with"))
    }
}

/// Looks at all models, in the order of their names. Without `versions` no program is asked for its version.
pub async fn examine(snapshot: &Snapshot, host: &HostVariables, versions: Option<&Versions>) -> Vec<Examined> {
    let models: Vec<Arc<Model>> = snapshot.models.values().cloned().collect();
    let examined = iter(models).map(|model| async move { examine_one(snapshot, host, versions, &model).await });
    examined.buffered(AT_ONCE).collect().await
}

async fn examine_one(
    snapshot: &Snapshot,
    host: &HostVariables,
    versions: Option<&Versions>,
    model: &Model,
) -> Examined {
    let mut examined = Examined {
        model: model.name.clone(),
        driver: model.driver.to_string(),
        program: None,
        version: None,
        tested: None,
        faults: Vec::new(),
        login_hint: String::new(),
    };
    let key = |key: &str| format!("models.{}.{key}", model.name);
    match snapshot.driver(&model.driver) {
        None => examined.faults.push(format!("{}: the driver `{}` is not loaded", key("driver"), model.driver)),
        Some(driver) => {
            let description = driver.plugin.description();
            examined.login_hint.clone_from(&description.probe.login_hint);
            match run::executable(model, driver, host) {
                Ok(executable) => {
                    examined.program = Some(executable.path().display().to_string());
                    let probe = &description.probe;
                    if let Some(versions) = versions {
                        examined.version = versions.of(&executable, &probe.version_args, model, host).await;
                    }
                    let version = examined.version.as_deref();
                    examined.tested = version.and_then(|version| version::tested(version, &probe.tested_versions));
                }
                Err(reason) => {
                    let hint = &description.probe.install_hint;
                    let hint = if hint.is_empty() { String::new() } else { format!(" ({hint})") };
                    examined.faults.push(format!("{}: {reason}{hint}", key("program")));
                }
            }
        }
    }
    examined.faults.extend(repository_fault(model, &key));
    examined
}

fn repository_fault(model: &Model, key: &impl Fn(&str) -> String) -> Option<String> {
    let repo = model.repo.display();
    if !model.repo.is_dir() {
        return Some(format!("{}: the repository {repo} does not exist", key("repo")));
    }
    let is_git = |repo: &Path| repo.join(".git").exists() || repo.join("HEAD").exists();
    (model.worktree.is_some() && !is_git(&model.repo))
        .then(|| format!("{}: {repo} is no git repository, so no worktree can be made", key("worktree")))
}
