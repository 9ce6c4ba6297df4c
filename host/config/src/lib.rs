//! Settings: the only reader of settings files and of the environment.
//!
//! ```text
//! source ─ text ─ tree (values with their lines) ─ section (key by key) ─ server, plugins, models, limits ─ Config
//! ```
//! Everything that is wrong is told at once, each fault with its file, line and key. What a setting refers to, such as
//! a repository, a driver or a program, is not looked at here.

mod edit;
mod fault;
mod limits;
mod members;
mod models;
mod models_json;
mod plugins;
mod policy;
mod process_environment;
mod section;
mod seen;
mod server;
mod shared;
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
pub use models::{Models, Template};
pub use plugins::{Plugins, Watching};
pub use process_environment::process_environment;
pub use seen::Seen;
pub use server::Server;
pub use source::Source;

use agentbay_domain::{Limits, Model, PluginLimits, Trust};

use fault::Report;
use models::Common;
use section::Section;
use tree::{Table, Value};
use values::Paths;

/// All settings, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Where to listen and who may use it.
    pub server: Server,
    /// The folders of the plugins.
    pub plugins: Plugins,
    /// Which plugins from outside are taken, and what each of them may ask for.
    pub trust: Trust,
    /// Which models clients can name.
    pub models: Models,
    /// What requests, plugins and runs may use.
    pub limits: Limits,
}

/// What the command line sets in place of the files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The address to listen on.
    pub listen: Option<SocketAddr>,
}

/// What a server that runs judges new settings against.
#[derive(Debug, Clone, Copy)]
pub struct Running<'a> {
    /// The address that it listens on, whatever the new settings say.
    pub listen: SocketAddr,
    /// What the files were like whose settings it uses.
    pub seen: &'a Seen,
}

/// Reads all settings.
///
/// # Errors
/// Every fault there is, of both files. A file that cannot be parsed has one, and the rest of the settings is then not
/// judged.
pub fn load(source: &Source, overrides: &Overrides) -> Result<Config, ConfigError> {
    read(source, overrides, None).map(|(config, _)| config)
}

/// Reads all settings, and says what the files were like. For a server that runs, a file that was there has to be there,
/// and what keeps others out has to hold for the address that it listens on.
///
/// # Errors
/// Those of [`load`].
pub fn read(
    source: &Source,
    overrides: &Overrides,
    running: Option<Running<'_>>,
) -> Result<(Config, Seen), ConfigError> {
    match inspect_for(source, overrides, running) {
        (Inspected { faults, config: Some(config) }, seen) if faults.is_empty() => Ok((config, seen)),
        (Inspected { faults, .. }, _) => Err(ConfigError::of(faults)),
    }
}

/// Settings that may be faulty: to look for what else is wrong, not to be used.
#[derive(Debug)]
pub struct Inspected {
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// All that could be read, with something in the place of what is faulty; none if a file cannot be parsed.
    pub config: Option<Config>,
}

/// Reads all settings as far as they can be read.
pub fn inspect(source: &Source, overrides: &Overrides) -> Inspected {
    inspect_for(source, overrides, None).0
}

fn inspect_for(source: &Source, overrides: &Overrides, running: Option<Running<'_>>) -> (Inspected, Seen) {
    let (settings, registry) = (source.settings(), source.registry());
    let before = running.map(|running| running.seen);
    let settings_before = before.and_then(|seen| seen.settings.as_ref());
    let registry_before = before.and_then(|seen| seen.registry.as_ref());
    let (tables, seen) =
        match (settings.read(tree::from_toml, settings_before), registry.read(tree::from_json, registry_before)) {
            (Ok(settings), Ok(registry)) => {
                let ((settings, seen_settings), (registry, seen_registry)) = (settings.unzip(), registry.unzip());
                (Tables { settings, registry }, Seen { settings: seen_settings, registry: seen_registry })
            }
            (settings, registry) => {
                let faults = settings.err().into_iter().chain(registry.err());
                return (Inspected { faults: faults.collect(), config: None }, Seen::default());
            }
        };
    let paths = Paths { folder: settings.folder(), environment: &source.environment };
    let reports = Reports { settings: Report::new(settings.shown), registry: Report::new(registry.shown) };
    let config = build(&tables, &reports, &paths, overrides, running.map(|running| running.listen));

    let mut faults = reports.settings.into_faults();
    faults.extend(reports.registry.into_faults());
    (Inspected { faults, config: Some(config) }, seen)
}

/// What the limits of a plugin come to that are written like this, where the rest is as for all.
///
/// # Errors
/// Every fault there is.
pub fn plugin_limits(written: &InlineLimits, all: PluginLimits) -> Result<PluginLimits, ConfigError> {
    let shown = "--limits";
    let table = tree::from_toml(&format!("limits = {written}")).map_err(|error| {
        ConfigError::of(vec![Fault { file: shown.into(), line: None, key: None, message: error.message }])
    })?;
    let report = Report::new(shown.into());
    let limits = limits::read_for_plugin(Section::root(Some(&table), &report).section("limits"), all);
    let faults = report.into_faults();
    if faults.is_empty() { Ok(limits) } else { Err(ConfigError::of(faults)) }
}

/// What is in the two files, of those that exist.
struct Tables {
    settings: Option<Table>,
    registry: Option<Table>,
}

/// What is wrong with the two files.
struct Reports {
    settings: Report,
    registry: Report,
}

/// Builds the configuration. Where a setting is faulty, something stands in its place, and the whole is not to be used.
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
    report_lost_fallbacks(&configured, tables, reports);

    let models = if tables.settings.is_none() && tables.registry.is_none() {
        Models::Discovered { template: Box::new(Template::for_repo(paths.folder.clone(), limits.run)) }
    } else {
        Models::Configured(configured)
    };
    Config { server, plugins, trust, models, limits }
}

/// Neither file goes before the other.
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

/// A model that is to stand in for another has to be there.
fn report_lost_fallbacks(models: &BTreeMap<String, Model>, tables: &Tables, reports: &Reports) {
    let settings = tables.settings.as_ref();
    let line = |path: &[&str]| tree::find(settings?, path).map(|node| node.line);
    for model in models.values() {
        for lost in model.fallback.iter().filter(|name| !models.contains_key(*name)) {
            let own = ["models", &model.name, "fallback"];
            let (path, line) = match line(&own) {
                Some(line) => (own.to_vec(), Some(line)),
                None => (vec!["defaults", "fallback"], line(&["defaults", "fallback"])),
            };
            let key = path.iter().fold(String::new(), |key, part| section::join(&key, part));
            reports.settings.add(line, &key, format!("there is no model {lost:?}"));
        }
    }
}
