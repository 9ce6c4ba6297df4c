//! How a plugin fares: how often it has failed in a call, when it did so last, and whether that is too often.
//!
//! It is told and changes nothing: each run has a fresh instance, and whether a plugin is to go is for its user to say.
//! A version that is loaded anew begins anew.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentbay_domain::PluginId;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::epoch::TICK;
use super::error::CallError;
use super::observer::{Observer, Version};

/// So many failures …
const OFTEN: usize = 3;

/// … within this time are too many.
const WINDOW: SignedDuration = SignedDuration::from_mins(5);

/// So many calls begin in the lane after one that took longer than a tick: some runs' worth.
const AFTER_LONG: u32 = 50;

/// The same after one that failed.
const AFTER_FAILURE: u32 = 1000;

/// How one version of a plugin fares. It is there as long as the version's code is: with the plugin, and with each run of it.
#[derive(Debug)]
pub(super) struct Record {
    version: Version,
    trouble: Trouble,
    health: Mutex<Health>,
    /// How many calls are to begin in the lane.
    in_lane: AtomicU32,
}

/// How a plugin fares. As text it is `state`, which is `healthy` or `unhealthy`, `traps`, and `last`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "Told", from = "Told")]
pub struct Health {
    /// How often it has failed in a call since it was loaded: traps, and limits that it ran into.
    pub traps: u64,
    /// The last time that it did.
    pub last: Option<Trap>,
    /// It has failed three times within five minutes.
    pub unhealthy: bool,
    /// When it failed the last times, the oldest first.
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

/// How a plugin fares, in the words for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    state: State,
    traps: u64,
    last: Option<Trap>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Healthy,
    Unhealthy,
}

/// Tells that some plugin has failed. A clone tells the same one who waits.
#[derive(Debug, Clone, Default)]
pub struct Trouble(Arc<Notify>);

impl Trouble {
    /// Waits until a plugin fails. What happens while nobody waits is told to the next who does.
    pub async fn told(&self) {
        self.0.notified().await;
    }
}

impl Record {
    pub(super) fn new(plugin: PluginId, observer: Arc<dyn Observer>, trouble: Trouble) -> Self {
        let version = Version::loaded(plugin, observer);
        Self { version, trouble, health: Mutex::default(), in_lane: AtomicU32::new(0) }
    }

    /// A call failed just now. A plan that is no plan counts as little as a refusal: the plugin went on as it should. What a
    /// client sends does not count either, however much it is.
    pub(super) fn note(&self, error: &CallError) {
        match error {
            CallError::Trap { call, reason } => self.trapped(call, reason),
            CallError::Plan(_) | CallError::TooLarge { .. } | CallError::Gone => {}
        }
    }

    fn trapped(&self, call: &'static str, reason: &str) {
        self.version.trapped();
        self.in_lane.fetch_max(AFTER_FAILURE, Ordering::Relaxed);
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        let was_healthy = !health.unhealthy;
        health.trapped(Trap { at: Timestamp::now(), call: call.to_owned(), reason: reason.to_owned() });
        tracing::warn!(plugin = %self.version.plugin(), call, reason, traps = health.traps, "plugin failed");
        if was_healthy && health.unhealthy {
            tracing::error!(plugin = %self.version.plugin(), "plugin is unhealthy: it failed {OFTEN} times within five minutes");
        }
        drop(health);
        self.trouble.0.notify_one();
    }

    /// Whether the next call is to begin in the lane. Not all that takes long comes to a tick: what is handed over is
    /// copied in one go.
    pub(super) fn begins_in_lane(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        self.in_lane.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    /// A call took so long.
    pub(super) fn took(&self, time: Duration) {
        if time > TICK {
            self.in_lane.fetch_max(AFTER_LONG, Ordering::Relaxed);
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
        let old = self.recent.len().saturating_sub(OFTEN - 1);
        self.recent.drain(..old);
        self.last = Some(trap);
    }
}

impl From<Health> for Told {
    fn from(Health { traps, last, unhealthy, recent: _ }: Health) -> Self {
        Self { state: if unhealthy { State::Unhealthy } else { State::Healthy }, traps, last }
    }
}

impl From<Told> for Health {
    fn from(Told { state, traps, last }: Told) -> Self {
        Self { traps, last, unhealthy: state == State::Unhealthy, recent: Vec::new() }
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
    fn three_traps_within_five_minutes_are_too_many() {
        for seconds in [&[][..], &[0], &[0, 1], &[0, 1, 302], &[0, 200, 400, 600]] {
            assert!(!after(seconds).unhealthy, "{seconds:?}");
        }
        for seconds in [&[0, 1, 2][..], &[0, 150, 300], &[0, 500, 501, 502]] {
            assert!(after(seconds).unhealthy, "{seconds:?}");
        }
    }

    #[test]
    fn calls_begin_in_the_lane_for_a_while_after_one_that_took_long_or_failed() {
        let record = Record::new("x".to_owned().try_into().unwrap(), Arc::new(()), Trouble::default());
        let in_lane = || std::iter::from_fn(|| record.begins_in_lane().then_some(())).count();
        record.took(TICK);
        assert_eq!(in_lane(), 0);
        record.took(TICK * 2);
        assert_eq!(in_lane(), 50);
        record.note(&CallError::Trap { call: "describe", reason: String::new() });
        assert_eq!(in_lane(), 1000);
    }

    #[test]
    fn it_stays_so_and_the_last_trap_is_kept() {
        let health = after(&[0, 1, 2, 10_000]);
        let at = Timestamp::from_second(10_000).unwrap();
        let last = Trap { at, call: "describe".to_owned(), reason: "10000".to_owned() };
        assert_eq!((health.traps, health.last, health.unhealthy), (4, Some(last), true));
    }
}
