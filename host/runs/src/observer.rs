//! Who counts runs. What becomes of the counts is not known here.

use std::fmt;

use agentbay_domain::{Category, PluginId};

/// Counts runs.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A run of a model has begun.
    fn run_started(&self, model: &str, driver: &PluginId);
    /// A run of a model has ended: well, or with a failure of this category.
    fn run_ended(&self, model: &str, driver: &PluginId, failure: Option<Category>);
}

/// Counts nothing.
impl Observer for () {
    fn run_started(&self, _model: &str, _driver: &PluginId) {}
    fn run_ended(&self, _model: &str, _driver: &PluginId, _failure: Option<Category>) {}
}
