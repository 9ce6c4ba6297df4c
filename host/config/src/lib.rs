//! Settings: the only reader of settings files and of the environment.
//!
//! ```text
//! source ─ text ─ tree (values with their lines) ─ section (key by key) ─ server, plugins, models, limits ─ Config
//! ```
//! All faults are reported at once, each with its file, line and key. Whether the things that a setting names exist, such as
//! a repository, a driver or a program, is not checked here.

mod edit;
mod fault;
mod fingerprint;
mod limits;
mod models;
mod models_json;
mod plugins;
mod policy;
mod process_environment;
mod renamed;
mod section;
mod server;
mod shared;
mod show;
mod source;
#[cfg(test)]
mod tests;
mod tree;
mod trust;
mod values;

use std::collections::BTreeMap;
use std::net::SocketAddr;

pub use edit::{EditFault, InlineLimits, NewGrant, with_grant};
pub use fault::{ConfigError, Fault};
pub use fingerprint::Fingerprints;
pub use models::{Models, Template};
pub use plugins::{Plugins, WatchMode};
pub use process_environment::process_environment;
pub use server::Server;
pub use source::Source;

use agentbay_domain::{Chores, Limits, Model, PluginLimits, Trust};

use fault::FaultReport;
use models::Common;
use section::Section;
use tree::{Table, Value};
use values::Paths;

/// All settings, validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The listen address and who has access.
    pub server: Server,
    /// The plugin folders.
    pub plugins: Plugins,
    /// Which external plugins are accepted, and what each may request.
    pub trust: Trust,
    /// The models that clients can name.
    pub models: Models,
    /// The limits of requests, plugins and runs.
    pub limits: Limits,
}

/// Settings from the command line, which override the files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The address to listen on.
    pub listen: Option<SocketAddr>,
}

/// State of a running server that new settings are validated against.
#[derive(Debug, Clone, Copy)]
pub struct RunningServer<'a> {
    /// The address that it listens on, which new settings do not change.
    pub listen: SocketAddr,
    /// The files whose settings it uses.
    pub seen: &'a Fingerprints,
}

/// Reads all settings.
///
/// # Errors
/// All faults of both files. A file that cannot be parsed has a single fault, and the other settings are then not
/// validated.
pub fn load(source: &Source, overrides: &Overrides) -> Result<Config, ConfigError> {
    read(source, overrides, None).map(|(config, _)| config)
}

/// Reads all settings and fingerprints of their files. For a running server, a file that existed must still exist, and the
/// access rules must fit the address that it listens on.
///
/// # Errors
/// Those of [`load`].
pub fn read(
    source: &Source,
    overrides: &Overrides,
    running: Option<RunningServer<'_>>,
) -> Result<(Config, Fingerprints), ConfigError> {
    match inspect_for(source, overrides, running) {
        (Inspected { faults, config: Some(config) }, seen) if faults.is_empty() => Ok((config, seen)),
        (Inspected { faults, .. }, _) => Err(ConfigError::of(faults)),
    }
}

/// Settings that may be faulty: for finding further faults, not for use.
#[derive(Debug)]
pub struct Inspected {
    /// The faults.
    pub faults: Vec<Fault>,
    /// The settings that could be read, with a placeholder for each faulty one; `None` if a file cannot be parsed.
    pub config: Option<Config>,
}

/// Reads the settings as far as possible.
pub fn inspect(source: &Source, overrides: &Overrides) -> Inspected {
    inspect_for(source, overrides, None).0
}

fn inspect_for(
    source: &Source,
    overrides: &Overrides,
    running: Option<RunningServer<'_>>,
) -> (Inspected, Fingerprints) {
    let (settings, registry) = (source.settings(), source.registry());
    let before = running.map(|running| running.seen);
    let settings_before = before.and_then(|seen| seen.settings.as_ref());
    let registry_before = before.and_then(|seen| seen.registry.as_ref());
    let (tables, seen) =
        match (settings.read(tree::from_toml, settings_before), registry.read(tree::from_json, registry_before)) {
            (Ok(settings), Ok(registry)) => {
                let ((settings, seen_settings), (registry, seen_registry)) = (settings.unzip(), registry.unzip());
                (Tables { settings, registry }, Fingerprints { settings: seen_settings, registry: seen_registry })
            }
            (settings, registry) => {
                let faults = settings.err().into_iter().chain(registry.err());
                return (Inspected { faults: faults.collect(), config: None }, Fingerprints::default());
            }
        };
    let paths = Paths { folder: settings.folder(), environment: &source.environment };
    let reports = Reports { settings: FaultReport::new(settings.shown), registry: FaultReport::new(registry.shown) };
    let config = build(&tables, &reports, &paths, overrides, running.map(|running| running.listen));

    let mut faults = reports.settings.into_faults();
    faults.extend(reports.registry.into_faults());
    (Inspected { faults, config: Some(config) }, seen)
}

/// Parses the limits of a plugin; those that are not written are `all`'s.
///
/// # Errors
/// All faults.
pub fn plugin_limits(written: &InlineLimits, all: PluginLimits) -> Result<PluginLimits, ConfigError> {
    let shown = "--limits";
    let table = tree::from_toml(&format!("limits = {written}")).map_err(|error| {
        ConfigError::of(vec![Fault { file: shown.into(), line: None, key: None, message: error.message }])
    })?;
    let report = FaultReport::new(shown.into());
    let limits = limits::read_for_plugin(Section::root(Some(&table), &report).section("limits"), all);
    let faults = report.into_faults();
    if faults.is_empty() { Ok(limits) } else { Err(ConfigError::of(faults)) }
}

/// The content of the two files, of those that exist.
struct Tables {
    settings: Option<Table>,
    registry: Option<Table>,
}

/// The faults of the two files.
struct Reports {
    settings: FaultReport,
    registry: FaultReport,
}

/// Builds the configuration. A faulty setting has a placeholder, and the result is then not for use.
fn build(
    tables: &Tables,
    reports: &Reports,
    paths: &Paths<'_>,
    overrides: &Overrides,
    open: Option<SocketAddr>,
) -> Config {
    let mut root = Section::root(tables.settings.as_ref(), &reports.settings);
    let server = server::read(root.section("server"), overrides, open);
    let limits = limits::read(root.section("limits"));
    let (plugins, trust) = plugins::read(root.section("plugins"), paths, limits.plugin);
    let defaults = models::read_defaults(root.section("defaults"), paths);
    let common = Common { defaults, limits: limits.run, paths };
    let mut configured = models::read(root.section("models"), &common);
    root.finish();

    let registry = Section::root(tables.registry.as_ref(), &reports.registry);
    configured.extend(models_json::read(registry, &common));
    report_names_in_both(tables, reports);
    report_missing_models(&configured, tables, reports);

    let models = if tables.settings.is_none() && tables.registry.is_none() {
        Models::Discovered { template: Box::new(Template::for_repo(paths.folder.clone(), limits.run)) }
    } else {
        Models::Configured(configured)
    };
    Config { server, plugins, trust, models, limits }
}

/// Neither file takes precedence.
fn report_names_in_both(tables: &Tables, reports: &Reports) {
    let models = tables.settings.as_ref().and_then(|table| table.get("models"));
    let Some(Value::Table(models)) = models.map(|node| &node.value) else {
        return;
    };
    for (name, node) in tables.registry.iter().flatten() {
        if let Some(other) = models.get(name) {
            let place = format!("{}:{}", reports.settings.file().display(), other.line);
            let message = format!("a model of this name is also in {place}: rename or remove one of them");
            reports.registry.add(Some(node.line), &section::join("", name), message);
        }
    }
}

/// Each model that another one names must exist.
fn report_missing_models(models: &BTreeMap<String, Model>, tables: &Tables, reports: &Reports) {
    let settings = tables.settings.as_ref();
    let line = |path: &[&str]| tree::find(settings?, path).map(|node| node.line);
    for model in models.values() {
        let chores = match &model.chores {
            Chores::Model(name) => Some(("chores", name)),
            Chores::Answer | Chores::Refuse | Chores::Run => None,
        };
        let named = model.fallback.iter().map(|name| ("fallback", name)).chain(chores);
        for (key, missing) in named.filter(|(_, name)| !models.contains_key(*name)) {
            let own = ["models", &model.name, key];
            let (path, line) = match line(&own) {
                Some(line) => (own.to_vec(), Some(line)),
                None => (vec!["defaults", key], line(&["defaults", key])),
            };
            let key = path.iter().fold(String::new(), |key, part| section::join(&key, part));
            reports.settings.add(line, &key, format!("there is no model {missing:?}"));
        }
    }
}
