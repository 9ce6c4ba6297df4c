//! The metrics of the program: their names and values. They are observers of `runs`, `plugin-host` and `api`, which know no
//! metric.
//!
//! No label has a value that a client or a CLI chose: models, drivers and plugins are those of the configuration, routes and
//! outcomes those of this program.

use std::fmt;
use std::sync::atomic::AtomicU64;

use agentbay_api::{Format, Gauges};
use agentbay_domain::{Category, PluginId};
use prometheus_client::encoding::{EncodeLabelSet, prometheus_text, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The values that are counted when something happens.
#[derive(Default)]
pub struct Metrics {
    runs_started: Family<RunLabels, Counter>,
    runs_ended: Family<EndLabels, Counter>,
    plugin_traps: Family<PluginLabels, Counter>,
    plugin_versions: Family<PluginLabels, Gauge>,
    http_requests: Family<RequestLabels, Counter>,
    chores: Family<ChoreLabels, Counter>,
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
struct ChoreLabels {
    chore: &'static str,
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

impl agentbay_runs::Observer for Metrics {
    fn run_started(&self, model: &str, driver: &PluginId) {
        let labels = RunLabels { model: model.to_owned(), driver: driver.to_string() };
        self.runs_started.get_or_create(&labels).inc();
    }

    fn run_ended(&self, model: &str, driver: &PluginId, failure: Option<Category>) {
        let outcome = failure.map_or("finished", Category::name);
        let labels = EndLabels { model: model.to_owned(), driver: driver.to_string(), outcome };
        self.runs_ended.get_or_create(&labels).inc();
    }
}

impl agentbay_plugin_host::Observer for Metrics {
    fn version_loaded(&self, plugin: &PluginId) {
        self.plugin_versions.get_or_create(&PluginLabels { plugin: plugin.to_string() }).inc();
    }

    fn version_dropped(&self, plugin: &PluginId) {
        self.plugin_versions.get_or_create(&PluginLabels { plugin: plugin.to_string() }).dec();
    }

    fn plugin_trapped(&self, plugin: &PluginId) {
        self.plugin_traps.get_or_create(&PluginLabels { plugin: plugin.to_string() }).inc();
    }
}

impl agentbay_api::Metrics for Metrics {
    fn request_answered(&self, route: &str, status: u16) {
        self.http_requests.get_or_create(&RequestLabels { route: route.to_owned(), status }).inc();
    }

    fn chore_recognized(&self, chore: &'static str) {
        self.chores.get_or_create(&ChoreLabels { chore }).inc();
    }

    fn encode(&self, gauges: Gauges, format: Format) -> Result<String, fmt::Error> {
        let registry = self.registry(gauges);
        let mut text = String::new();
        match format {
            Format::Prometheus => prometheus_text::encode(&mut text, &registry)?,
            Format::OpenMetrics => text::encode(&mut text, &registry)?,
        }
        Ok(text)
    }
}

impl Metrics {
    fn registry(&self, gauges: Gauges) -> Registry {
        let mut registry = Registry::with_prefix("agentbay");
        registry.register("runs_started", "Runs that were started", self.runs_started.clone());
        registry.register(
            "runs_ended",
            "Runs that have ended; the outcome is finished, or the code of the failure",
            self.runs_ended.clone(),
        );
        registry.register("plugin_traps", "Calls in which a plugin failed", self.plugin_traps.clone());
        registry.register(
            "plugin_versions",
            "Versions of a plugin in memory: in use, of active runs, and the built-in one",
            self.plugin_versions.clone(),
        );
        registry.register("http_requests", "Requests that were answered", self.http_requests.clone());
        registry.register(
            "chores",
            "Requests that clients sent by themselves, such as for a title",
            self.chores.clone(),
        );
        let Gauges { active, waiting, loaded, refused, plugin_changes } = gauges;
        for (name, help, value) in [
            ("runs_active", "Runs whose CLI works or is being ended", active),
            ("runs_waiting", "Runs that wait in the queue or for a retry", waiting),
            ("plugins_loaded", "Plugins in use", loaded),
            ("plugins_refused", "Files of the plugin folder that are not in use", refused),
        ] {
            let gauge = Gauge::<i64>::default();
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
            registry.register(name, help, gauge);
        }
        let counter = Counter::<u64, AtomicU64>::default();
        counter.inc_by(plugin_changes);
        registry.register("plugin_changes", "Plugins that were added, removed or replaced since the start", counter);
        registry
    }
}

#[cfg(test)]
mod tests {
    use agentbay_api::Metrics as _;
    use agentbay_plugin_host::Observer as _;
    use agentbay_runs::Observer as _;

    use super::*;

    #[test]
    fn every_metric_has_its_name_in_both_formats() {
        let metrics = Metrics::default();
        let driver = PluginId::try_from("codex".to_owned()).unwrap();
        metrics.run_started("m", &driver);
        metrics.run_ended("m", &driver, None);
        metrics.run_ended("m", &driver, Some(Category::RateLimit));
        metrics.plugin_trapped(&driver);
        metrics.version_loaded(&driver);
        metrics.version_loaded(&driver);
        metrics.version_dropped(&driver);
        metrics.request_answered("/v1/models", 200);
        metrics.chore_recognized("title");
        let now = Gauges { active: 1, waiting: 2, loaded: 3, refused: 4, plugin_changes: 5 };
        let prometheus = metrics.encode(now, Format::Prometheus).unwrap();
        let open = metrics.encode(now, Format::OpenMetrics).unwrap();
        let samples = [
            "agentbay_runs_started_total{model=\"m\",driver=\"codex\"} 1",
            "agentbay_runs_ended_total{model=\"m\",driver=\"codex\",outcome=\"finished\"} 1",
            "agentbay_runs_ended_total{model=\"m\",driver=\"codex\",outcome=\"rate_limit\"} 1",
            "agentbay_plugin_traps_total{plugin=\"codex\"} 1",
            "agentbay_plugin_versions{plugin=\"codex\"} 1",
            "agentbay_http_requests_total{route=\"/v1/models\",status=\"200\"} 1",
            "agentbay_chores_total{chore=\"title\"} 1",
            "agentbay_runs_active 1",
            "agentbay_runs_waiting 2",
            "agentbay_plugins_loaded 3",
            "agentbay_plugins_refused 4",
            "agentbay_plugin_changes_total 5",
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
