//! `[defaults]` and `[models.NAME]`. Whether the repository, the driver and the program exist is not checked here: they
//! can appear and disappear while the settings stay the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agentbay_domain::{CliTarget, Model, PluginId, RunLimits};

use super::limits;
use super::section::{Item, Section};
use super::shared::Shared;
use super::tree::Value;
use super::values::Paths;

/// The key that sets the repository of models without one.
pub(super) const DEFAULT_REPO: &str = "defaults.repo";

/// The source of the models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Models {
    /// Models that a file defines; possibly none.
    Configured(BTreeMap<String, Model>),
    /// There is no file: `echo` and every known CLI on PATH, for this repository.
    Discovered {
        /// The settings that all of them share.
        template: Box<Template>,
    },
}

/// The shared settings of models that no file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    shared: Shared,
    limits: RunLimits,
}

impl Template {
    /// Creates a template with the defaults, for a repository.
    pub fn for_repo(repo: PathBuf, limits: RunLimits) -> Self {
        Self { shared: Shared { repo: Some(repo), ..Shared::default() }, limits }
    }

    /// Returns the model of a driver, named after it.
    pub fn for_driver(&self, driver: &PluginId) -> Model {
        self.for_target(self.target(driver))
    }

    /// The target of that model.
    pub fn target(&self, driver: &PluginId) -> CliTarget {
        self.shared.target(driver.as_str(), driver.clone())
    }

    /// The model of a target, named after its driver.
    pub fn for_target(&self, target: CliTarget) -> Model {
        self.shared.clone().into_model(target.driver.clone().as_str(), target, self.limits)
    }
}

pub(super) fn read_defaults(mut section: Section<'_>, paths: &Paths<'_>) -> Shared {
    let shared = Shared::read(&mut section, paths);
    section.finish();
    shared
}

/// Settings of a model from outside of its own table.
pub(super) struct Common<'a> {
    pub(super) defaults: Shared,
    pub(super) limits: RunLimits,
    pub(super) paths: &'a Paths<'a>,
}

pub(super) fn read(section: Section<'_>, common: &Common<'_>) -> BTreeMap<String, Model> {
    named_sections(section)
        .filter_map(|(name, section)| Some((name.to_owned(), model(name, section, common)?)))
        .collect()
}

/// The tables of a section whose keys are the names of models.
pub(super) fn named_sections<'a>(section: Section<'a>) -> impl Iterator<Item = (&'a str, Section<'a>)> {
    section.into_items().filter_map(|(name, item)| {
        let message = match name {
            "" => Some("the name of a model must not be empty"),
            _ if name.chars().any(|c| c.is_control() || c.is_whitespace()) => {
                Some("the name of a model must not contain white space or control characters")
            }
            _ if name.chars().count() > 200 => Some("the name of a model must not be longer than 200 characters"),
            _ => None,
        };
        if let Some(message) = message {
            item.fault(message);
        }
        Some((name, item.section()?))
    })
}

fn model(name: &str, mut section: Section<'_>, common: &Common<'_>) -> Option<Model> {
    let driver = driver(&mut section);
    let own = Shared::read(&mut section, common.paths);
    let of_defaults = own.repo.is_none() && common.defaults.repo.is_some();
    let shared = own.or(&common.defaults);
    if shared.repo.is_none() {
        section.fault("repo", "is missing: name the folder of the repository, here or in [defaults]");
    }
    let model = section.take("model").and_then(|item| item.full_text()).map(str::to_owned);
    let program = section.take("program").and_then(|item| common.paths.program(&item));
    let options = section.take("options").and_then(|item| item.section()).map(options).unwrap_or_default();
    let limits = limits::read_for_model(section.section("limits"), common.limits);
    section.finish();
    let mut target = CliTarget { model, program, options, ..shared.target(name, driver?) };
    if of_defaults {
        DEFAULT_REPO.clone_into(&mut target.repo_key);
    }
    Some(shared.into_model(name, target, limits))
}

/// Reads the driver of a model.
pub(super) fn driver(section: &mut Section<'_>) -> Option<PluginId> {
    let item = section.require("driver", "name the plugin that drives the CLI, such as \"codex\"")?;
    let driver = PluginId::try_from(item.text()?.to_owned());
    driver.inspect_err(|error| item.fault(error.to_string())).ok()
}

/// Option values are text; any other value is written as JSON.
fn options(section: Section<'_>) -> Vec<(String, String)> {
    section.into_items().filter_map(|(name, item)| Some((name.to_owned(), option(&item)?))).collect()
}

fn option(item: &Item<'_>) -> Option<String> {
    if matches!(item.value(), Value::Text(_)) {
        return item.text().map(str::to_owned);
    }
    let json = item.value().to_json();
    if json.is_none() {
        item.fault("contains a number that JSON cannot represent, and plugins receive options as JSON");
    }
    json.map(|json| json.to_string())
}
