//! Observes runs: their number, and what plugins make of what the CLIs print. What is done with it is not known here.

use std::fmt;

use agentbay_domain::{Category, Event, PluginId};

use super::step::PluginFailed;

/// Observes runs. Its methods return at once: a run waits for them.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A run of a model has begun.
    fn run_started(&self, model: &str, driver: &PluginId);
    /// A run of a model has ended: well, or with a failure of this category.
    fn run_ended(&self, model: &str, driver: &PluginId, failure: Option<Category>);
    /// A plugin produced an event which the host does not carry out itself.
    fn event(&self, _event: &Event) {}
    /// A plugin failed in the middle of what it read.
    fn plugin_failed(&self, _failed: &PluginFailed) {}
}
