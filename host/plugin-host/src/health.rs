//! The health of a plugin: the number of failed calls, the last failure, and whether there are too many.
//!
//! Informational only: an unhealthy plugin stays in use, since each run has a fresh instance and removal is the user's
//! decision. The counters start at zero when a version is loaded.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use agentbay_domain::PluginId;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::epoch::TICK;
use super::error::CallError;
use super::observer::{Observer, Version};

/// This number of failures …
const MAX_FAILURES: usize = 3;

/// … within this time makes a plugin unhealthy.
const WINDOW: SignedDuration = SignedDuration::from_mins(5);

/// Number of calls that start in the executor after one that took longer than a tick; enough for some runs.
const OFFLOAD_AFTER_LONG: u32 = 50;

/// The same after one that failed.
const OFFLOAD_AFTER_FAILURE: u32 = 1000;

/// Tracks the health of one version of a plugin. Shared by the plugin and its runs, for as long as the version's code lives.
#[derive(Debug)]
pub(super) struct HealthTracker {
    plugin: PluginId,
    observer: Arc<dyn Observer>,
    /// Its code, once it is in memory.
    version: OnceLock<Version>,
    failure_signal: FailureSignal,
    health: Mutex<Health>,
    /// Number of next calls that start in the executor.
    to_offload: AtomicU32,
}

/// The health of a plugin. Serialised as `state` (`healthy` or `unhealthy`), `traps` and `last`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "HealthReport", from = "HealthReport")]
pub struct Health {
    /// Number of failed calls since it was loaded: traps and exceeded limits.
    pub traps: u64,
    /// The last failed call.
    pub last: Option<Trap>,
    /// It has failed three times within five minutes.
    pub unhealthy: bool,
    /// The times of the last failures, oldest first.
    recent: Vec<Timestamp>,
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trap {
    /// When it failed.
    #[serde(rename = "time")]
    pub at: Timestamp,
    /// The function of the contract.
    pub call: String,
    /// The trap or the limit.
    pub reason: String,
}

/// The serialised form of [`Health`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct HealthReport {
    state: HealthState,
    traps: u64,
    #[serde(rename = "last_trap")]
    last: Option<Trap>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HealthState {
    Healthy,
    Unhealthy,
}

/// Signals that some plugin has failed. Clones share the signal.
#[derive(Debug, Clone, Default)]
pub struct FailureSignal(Arc<Notify>);

impl FailureSignal {
    /// Waits until a plugin fails. A failure while nobody waits is delivered to the next waiter.
    pub async fn wait(&self) {
        self.0.notified().await;
    }
}

impl HealthTracker {
    pub(super) fn new(plugin: PluginId, observer: Arc<dyn Observer>, failure_signal: FailureSignal) -> Self {
        Self {
            plugin,
            observer,
            version: OnceLock::new(),
            failure_signal,
            health: Mutex::default(),
            to_offload: AtomicU32::new(0),
        }
    }

    /// Counts its code as loaded, until the tracker is dropped.
    pub(super) fn version_loaded(&self) {
        self.version.get_or_init(|| Version::loaded(self.plugin.clone(), Arc::clone(&self.observer)));
    }

    /// The plugin's id.
    pub(super) fn plugin(&self) -> &PluginId {
        &self.plugin
    }

    /// Records a failed call. An invalid plan does not count, like a refusal: the plugin kept working. Nor does a failure
    /// caused by a client's large input.
    pub(super) fn record(&self, error: &CallError) {
        match error {
            CallError::Trap { call, reason } => self.trapped(call, reason),
            CallError::Plan(_) | CallError::TooLarge { .. } | CallError::Unusable | CallError::NotCompiled { .. } => {}
        }
    }

    fn trapped(&self, call: &'static str, reason: &str) {
        self.observer.plugin_trapped(&self.plugin);
        self.to_offload.fetch_max(OFFLOAD_AFTER_FAILURE, Ordering::Relaxed);
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        let was_healthy = !health.unhealthy;
        health.trapped(Trap { at: Timestamp::now(), call: call.to_owned(), reason: reason.to_owned() });
        tracing::warn!(plugin = %self.plugin, call, reason, traps = health.traps, "plugin failed");
        if was_healthy && health.unhealthy {
            tracing::error!(plugin = %self.plugin, "plugin is unhealthy: it failed {MAX_FAILURES} times within five minutes");
        }
        drop(health);
        self.failure_signal.0.notify_one();
    }

    /// Whether the next call starts in the executor. Long calls may not reach a tick: arguments and results are copied without
    /// interruption.
    pub(super) fn should_offload(&self) -> bool {
        let decrement = |left: u32| left.checked_sub(1);
        self.to_offload.fetch_update(Ordering::Relaxed, Ordering::Relaxed, decrement).is_ok()
    }

    /// Records the duration of a call.
    pub(super) fn record_duration(&self, time: Duration) {
        if time > TICK {
            self.to_offload.fetch_max(OFFLOAD_AFTER_LONG, Ordering::Relaxed);
        }
    }

    pub(super) fn health(&self) -> Health {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Health {
    fn trapped(&mut self, trap: Trap) {
        self.traps += 1;
        self.recent.push(trap.at);
        if let [.., first, _, last] = self.recent.as_slice() {
            self.unhealthy |= last.duration_since(*first) <= WINDOW;
        }
        let old = self.recent.len().saturating_sub(MAX_FAILURES - 1);
        self.recent.drain(..old);
        self.last = Some(trap);
    }
}

impl From<Health> for HealthReport {
    fn from(Health { traps, last, unhealthy, recent: _ }: Health) -> Self {
        Self { state: if unhealthy { HealthState::Unhealthy } else { HealthState::Healthy }, traps, last }
    }
}

impl From<HealthReport> for Health {
    fn from(HealthReport { state, traps, last }: HealthReport) -> Self {
        Self { traps, last, unhealthy: state == HealthState::Unhealthy, recent: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The health after traps at these seconds.
    fn after(seconds: &[i64]) -> Health {
        let mut health = Health::default();
        for second in seconds {
            let at = Timestamp::from_second(*second).unwrap();
            health.trapped(Trap { at, call: "describe".to_owned(), reason: second.to_string() });
        }
        health
    }

    #[test]
    fn three_traps_within_five_minutes_make_a_plugin_unhealthy() {
        for seconds in [&[][..], &[0], &[0, 1], &[0, 1, 302], &[0, 200, 400, 600]] {
            assert!(!after(seconds).unhealthy, "{seconds:?}");
        }
        for seconds in [&[0, 1, 2][..], &[0, 150, 300], &[0, 500, 501, 502]] {
            assert!(after(seconds).unhealthy, "{seconds:?}");
        }
    }

    #[test]
    fn calls_start_in_the_executor_for_a_while_after_a_long_or_failed_one() {
        let tracker = HealthTracker::new("x".to_owned().try_into().unwrap(), Arc::new(()), FailureSignal::default());
        let offloaded = || std::iter::from_fn(|| tracker.should_offload().then_some(())).count();
        tracker.record_duration(TICK);
        assert_eq!(offloaded(), 0);
        tracker.record_duration(TICK * 2);
        assert_eq!(offloaded(), 50);
        tracker.record(&CallError::Trap { call: "describe", reason: String::new() });
        assert_eq!(offloaded(), 1000);
    }

    #[test]
    fn an_unhealthy_plugin_stays_unhealthy_and_the_last_trap_is_kept() {
        let health = after(&[0, 1, 2, 10_000]);
        let at = Timestamp::from_second(10_000).unwrap();
        let last = Trap { at, call: "describe".to_owned(), reason: "10000".to_owned() };
        assert_eq!((health.traps, health.last, health.unhealthy), (4, Some(last), true));
    }
}
