//! `init`: a first proxy.toml, for the repository of the current folder and the CLIs on PATH. How it is printed is decided in
//! `cli`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentbay_config::{Config, Models, Source, Template};
use agentbay_domain::{Environment, Model, terminal_safe};
use agentbay_runs::Snapshot;
use agentbay_runs::doctor::{Examined, Fault, examine};
use agentbay_workspace::top;

use crate::app::{self, AppError, Loaded, Screen};

const HEADER: &str = "\
# The settings of AgentBay, written by `agentbay init`. A path is relative to the folder of this file. Every key with its
# default: https://github.com/agentbay/agentbay/blob/main/proxy.toml

[server]
# An address that other machines can reach needs `api_keys`.
listen = \"127.0.0.1:8787\"

[defaults]
# The repository that the agents work in.
";

const DEFAULTS: &str = "\
# What an agent may do without asking: \"read-only\", \"workspace-write\" or \"full-access\".
#permission = \"workspace-write\"
# Whether each run works in a git worktree of its own.
#worktree = true
";

/// Why no proxy.toml is written.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The settings beside it have faults, or plugins cannot be loaded.
    #[error(transparent)]
    App(#[from] AppError),
    /// There is one.
    #[error("{0} exists and is not overwritten: edit it, or rename it and run `agentbay init` again")]
    Exists(PathBuf),
    /// The file cannot be written.
    #[error("cannot write {path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// A proxy.toml that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// The folder that the agents work in.
    pub repo: PathBuf,
    /// The names of its models.
    pub models: Vec<String>,
    /// Models of installed CLIs that cannot run, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Writes a proxy.toml into the current folder, which must not have one.
///
/// # Errors
/// See [`InitError`]. Nothing is written then.
pub async fn init(source: &Source, screen: &dyn Screen) -> Result<Written, InitError> {
    let path = source.settings_path();
    if fs::symlink_metadata(&path).is_ok() {
        return Err(InitError::Exists(path));
    }
    let repo = top(&source.cwd).unwrap_or(&source.cwd).to_owned();
    let Loaded { config, mut snapshot, environment, .. } = app::load(source, screen).await?;
    snapshot.models = candidates(&config, &snapshot, &environment, &repo);
    let examined = examine(&snapshot, &environment, None).await;
    let (good, faulty): (Vec<_>, Vec<_>) = examined.into_iter().partition(|model| model.faults.is_empty());
    write_new(&path, &settings(&snapshot, &relative(&source.cwd, &repo), &good))?;
    let reasons = |faults: &[Fault]| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let left_out = faulty.into_iter().map(|model| (model.model, reasons(&model.faults))).collect();
    Ok(Written { path, repo, models: good.into_iter().map(|model| model.model).collect(), left_out })
}

/// A model for each driver whose program is installed, but for those that a models.json beside the file names already.
fn candidates(
    config: &Config,
    snapshot: &Snapshot,
    environment: &Environment,
    repo: &Path,
) -> BTreeMap<String, Arc<Model>> {
    let template = Template::for_repo(repo.to_owned(), config.limits.run);
    let mut models = app::discovered(&snapshot.plugins, environment, |driver| template.for_driver(driver));
    if let Models::Configured(registered) = &config.models {
        models.retain(|name, _| !registered.contains_key(name));
    }
    models
}

/// The text of the file.
fn settings(snapshot: &Snapshot, repo: &str, models: &[Examined]) -> String {
    let mut text = format!("{HEADER}repo = {repo:?}\n{DEFAULTS}");
    for Examined { model, driver, login_hint, .. } in models {
        let plugin = snapshot.plugins.drivers.values().find(|known| known.plugin.id().as_str() == driver);
        let name = plugin.map_or(driver.as_str(), |known| &known.plugin.description().name);
        // A plugin chose both texts: neither may end the comment.
        let (name, hint) = (terminal_safe(name), terminal_safe(login_hint));
        let login = if hint.is_empty() { String::new() } else { format!(" Login: {hint}") };
        // Writing to a string cannot fail.
        let _written = write!(text, "\n# {name}.{login}\n[models.{model}]\ndriver = \"{driver}\"\n");
    }
    text
}

/// The relative path from a folder up to one that contains it.
fn relative(folder: &Path, above: &Path) -> String {
    let depth = folder.strip_prefix(above).map_or(0, |below| below.components().count());
    if depth == 0 { ".".to_owned() } else { vec![".."; depth].join("/") }
}

/// Writes a file that must not exist, also if another program creates it at this moment.
fn write_new(path: &Path, text: &str) -> Result<(), InitError> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::AlreadyExists => InitError::Exists(path.to_owned()),
        _ => InitError::File { path: path.to_owned(), error },
    };
    let mut file = File::create_new(path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| {
        // An incomplete file would block the next attempt.
        let _removed = fs::remove_file(path);
        failed(error)
    })
}
