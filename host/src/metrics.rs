//! The numbers that are told to whoever collects them: their names, and what is counted. What they are told over is
//! `http`'s.
//!
//! No label holds what a client or a CLI chose: models, drivers and plugins are those of the configuration, routes and
//! outcomes those of this program.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::{EncodeLabelSet, prometheus_text, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::domain::{Category, PluginId};

/// What is counted while it happens. A clone counts into the same numbers.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Families>);

#[derive(Default)]
struct Families {
    runs_started: Family<RunLabels, Counter>,
    runs_ended: Family<EndLabels, Counter>,
    plugin_traps: Family<PluginLabels, Counter>,
    plugin_versions: Family<PluginLabels, Gauge>,
    http_requests: Family<RequestLabels, Counter>,
}

/// One of something that is counted as long as it is there.
#[derive(Debug)]
pub struct Living(Gauge);

impl Drop for Living {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// What is looked at when it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Runs whose CLI is at work, or that are cleared away.
    pub going: usize,
    /// Runs that wait: for others to end, or to be tried again.
    pub waiting: usize,
    /// Plugins in use.
    pub loaded: usize,
    /// Files of the plugin folder that are not.
    pub refused: usize,
    /// Plugins that came, went or were replaced since the start.
    pub swaps: u64,
}

/// The two ways to write numbers down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The text format 0.0.4 of Prometheus.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    model: String,
    driver: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndLabels {
    model: String,
    driver: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PluginLabels {
    plugin: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    status: u16,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// A run of a model has come.
    pub fn run_started(&self, model: &str, driver: &PluginId) {
        let labels = RunLabels { model: model.to_owned(), driver: driver.to_string() };
        self.0.runs_started.get_or_create(&labels).inc();
    }

    /// A run of a model has ended: well, or with a failure of this category.
    pub fn run_ended(&self, model: &str, driver: &PluginId, failure: Option<Category>) {
        let outcome = failure.map_or("finished", Category::name);
        let labels = EndLabels { model: model.to_owned(), driver: driver.to_string(), outcome };
        self.0.runs_ended.get_or_create(&labels).inc();
    }

    /// A plugin failed in a call.
    pub fn plugin_trapped(&self, plugin: &PluginId) {
        self.0.plugin_traps.get_or_create(&PluginLabels { plugin: plugin.to_string() }).inc();
    }

    /// A version of a plugin is in memory as long as what comes of this lives.
    pub fn plugin_version(&self, plugin: &PluginId) -> Living {
        let gauge = self.0.plugin_versions.get_or_create(&PluginLabels { plugin: plugin.to_string() }).clone();
        gauge.inc();
        Living(gauge)
    }

    /// A request was answered. The route is the pattern, not the path.
    pub fn request_answered(&self, route: &str, status: u16) {
        self.0.http_requests.get_or_create(&RequestLabels { route: route.to_owned(), status }).inc();
    }

    /// All numbers, as text.
    ///
    /// # Errors
    /// One cannot be written down.
    pub fn written(&self, now: Now, format: Format) -> Result<String, fmt::Error> {
        let registry = self.registry(now);
        let mut text = String::new();
        match format {
            Format::Prometheus => prometheus_text::encode(&mut text, &registry)?,
            Format::OpenMetrics => text::encode(&mut text, &registry)?,
        }
        Ok(text)
    }

    fn registry(&self, now: Now) -> Registry {
        let mut registry = Registry::with_prefix("agentbay");
        let families = &self.0;
        registry.register("runs_started", "Runs that have come", families.runs_started.clone());
        registry.register(
            "runs_ended",
            "Runs that have ended; the outcome is finished, or the code of the failure",
            families.runs_ended.clone(),
        );
        registry.register("plugin_traps", "Calls in which a plugin failed", families.plugin_traps.clone());
        registry.register(
            "plugin_versions",
            "Versions of a plugin in memory: in use, of runs that go on, and the built-in one",
            families.plugin_versions.clone(),
        );
        registry.register("http_requests", "Requests that were answered", families.http_requests.clone());
        let Now { going, waiting, loaded, refused, swaps } = now;
        for (name, help, value) in [
            ("runs_going", "Runs whose CLI is at work or being ended", going),
            ("runs_waiting", "Runs that wait for others to end or to be tried again", waiting),
            ("plugins_loaded", "Plugins in use", loaded),
            ("plugins_refused", "Files of the plugin folder that are not in use", refused),
        ] {
            let gauge = Gauge::<i64>::default();
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
            registry.register(name, help, gauge);
        }
        let counter = Counter::<u64, AtomicU64>::default();
        counter.inc_by(swaps);
        registry.register("plugin_swaps", "Plugins that came, went or were replaced since the start", counter);
        registry
    }
}

impl Format {
    /// What stands in the header `content-type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_name_in_both_formats() {
        let metrics = Metrics::default();
        let driver = PluginId::try_from("codex".to_owned()).unwrap();
        metrics.run_started("m", &driver);
        metrics.run_ended("m", &driver, None);
        metrics.run_ended("m", &driver, Some(Category::RateLimit));
        metrics.plugin_trapped(&driver);
        let _version = metrics.plugin_version(&driver);
        drop(metrics.plugin_version(&driver));
        metrics.request_answered("/v1/models", 200);
        let now = Now { going: 1, waiting: 2, loaded: 3, refused: 4, swaps: 5 };
        let prometheus = metrics.written(now, Format::Prometheus).unwrap();
        let open = metrics.written(now, Format::OpenMetrics).unwrap();
        let samples = [
            "agentbay_runs_started_total{model=\"m\",driver=\"codex\"} 1",
            "agentbay_runs_ended_total{model=\"m\",driver=\"codex\",outcome=\"finished\"} 1",
            "agentbay_runs_ended_total{model=\"m\",driver=\"codex\",outcome=\"rate_limit\"} 1",
            "agentbay_plugin_traps_total{plugin=\"codex\"} 1",
            "agentbay_plugin_versions{plugin=\"codex\"} 1",
            "agentbay_http_requests_total{route=\"/v1/models\",status=\"200\"} 1",
            "agentbay_runs_going 1",
            "agentbay_runs_waiting 2",
            "agentbay_plugins_loaded 3",
            "agentbay_plugins_refused 4",
            "agentbay_plugin_swaps_total 5",
        ];
        let sorted = |text: &str| {
            let mut lines: Vec<String> =
                text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let mut expected = samples.map(str::to_owned);
        expected.sort();
        assert_eq!((sorted(&prometheus), sorted(&open)), (expected.to_vec(), expected.to_vec()));
        assert!(open.ends_with("# EOF\n"));
    }
}
