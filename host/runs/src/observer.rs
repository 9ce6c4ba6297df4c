//! Observation of runs: their start and end, and the events of their plugins.

use std::fmt;

use agentbay_domain::{Category, Event, PluginId};

use super::step::PluginFailed;

/// Observes runs. A run waits for each call, so the methods return at once.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A run of a model has started.
    fn run_started(&self, model: &str, driver: &PluginId);
    /// A run of a model has ended, with a failure of this category or without one.
    fn run_ended(&self, model: &str, driver: &PluginId, failure: Option<Category>);
    /// A plugin produced an event that the host does not carry out itself.
    fn event(&self, _event: &Event) {}
    /// A plugin failed while it read the output.
    fn plugin_failed(&self, _failed: &PluginFailed) {}
}
