//! The registry of runs: their phase, how one is cancelled or joined, and whether new ones may start.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentbay_domain::{PluginId, RunId};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::feed::{Feed, Listener};
use super::step::FailedAttempt;

/// The runs of the server. A clone shares them.
#[derive(Debug, Clone)]
pub(super) struct Registry(Arc<watch::Sender<State>>);

/// A run, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRun {
    /// The run's name.
    pub id: RunId,
    /// The requested model.
    pub model: String,
    /// The model that serves it now: a fallback if the requested one has failed.
    pub current_model: String,
    /// The driver of that model.
    pub driver: PluginId,
    /// Its phase.
    pub phase: Phase,
    /// When it was requested.
    pub created_at: Timestamp,
    /// The attempts that failed.
    pub failed_attempts: Vec<FailedAttempt>,
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It waits for a slot.
    Queued,
    /// Its CLI is running.
    Running,
    /// An attempt failed, and the next one starts after a delay.
    Waiting,
    /// It has been answered, and its process and worktree are being released.
    Ending,
}

/// What identifies a request, and what its client says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// A hash of client, request and session.
    pub request: [u8; 32],
    /// What identifies a repetition while the run lasts, if the request may be repeated.
    pub key: Option<RequestKey>,
    /// The client marks it as a retry.
    pub repeated: bool,
    /// The client wants a run, even if a failure of the same request is remembered.
    pub rerun: bool,
}

/// What identifies a repeated request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// A hash of client and idempotency key.
    pub key: [u8; 32],
    /// A hash of the body.
    pub body: [u8; 32],
    /// Whether the request may join a run instead of starting another.
    pub may_join: bool,
}

/// The registration of a run, which lasts until this is dropped.
#[derive(Debug)]
pub(super) struct RunHandle {
    runs: Registry,
    id: RunId,
    /// Cancelled if a client ends the run.
    pub(super) cancelled: CancellationToken,
}

/// The result of registering a request.
pub(super) enum Entered {
    /// A new run.
    New(RunHandle),
    /// The run that is already there.
    Joined(RunId, Listener),
    /// Its key is in use by another request.
    Taken,
    /// No new run may start.
    Closed,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    runs: BTreeMap<RunId, LiveEntry>,
}

#[derive(Debug)]
struct LiveEntry {
    run: LiveRun,
    cancelled: CancellationToken,
    feed: Feed,
    key: Option<RequestKey>,
}

impl Registry {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }

    /// Registers a run, or returns the run that the request repeats.
    pub(super) fn enter(&self, run: LiveRun, feed: Feed, key: Option<RequestKey>) -> Entered {
        let (id, cancelled) = (run.id, CancellationToken::new());
        let mut entered = Entered::Closed;
        self.0.send_modify(|state| {
            if state.closed {
                return;
            }
            entered = match key.as_ref().and_then(|key| state.known(key)) {
                Some(known) => known,
                None => {
                    let live = LiveEntry { run, cancelled: cancelled.clone(), feed, key };
                    state.runs.insert(id, live);
                    Entered::New(RunHandle { runs: self.clone(), id, cancelled })
                }
            };
        });
        entered
    }

    /// All of them, the oldest first.
    pub(super) fn all(&self) -> Vec<LiveRun> {
        self.0.borrow().runs.values().map(|live| live.run.clone()).collect()
    }

    /// One of them.
    pub(super) fn one(&self, id: RunId) -> Option<LiveRun> {
        self.0.borrow().runs.get(&id).map(|live| live.run.clone())
    }

    /// Ends a run.
    pub(super) fn cancel(&self, id: RunId) -> Option<LiveRun> {
        let state = self.0.borrow();
        let live = state.runs.get(&id)?;
        live.cancelled.cancel();
        Some(live.run.clone())
    }

    /// Refuses new runs from now on.
    pub(super) fn close(&self) {
        self.0.send_modify(|state| state.closed = true);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.borrow().closed
    }

    /// Waits until every run has been answered.
    pub(super) async fn answered(&self) {
        let mut state = self.0.subscribe();
        let all_answered = |state: &State| state.runs.values().all(|live| live.run.phase == Phase::Ending);
        drop(state.wait_for(all_answered).await);
    }
}

impl RunHandle {
    /// The run's name.
    pub(super) fn id(&self) -> RunId {
        self.id
    }

    /// Sets the phase.
    pub(super) fn set_phase(&self, phase: Phase) {
        self.change(|run| run.phase = phase);
    }

    /// Sets the model that serves the run.
    pub(super) fn set_current_model(&self, model: &str, driver: &PluginId) {
        self.change(|run| {
            run.current_model = model.to_owned();
            run.driver = driver.clone();
        });
    }

    /// Records an attempt that failed.
    pub(super) fn record_failed_attempt(&self, failed: FailedAttempt) {
        self.change(|run| run.failed_attempts.push(failed));
    }

    /// The number of attempts, including the current one.
    pub(super) fn attempts(&self) -> usize {
        self.runs.one(self.id).map_or(0, |run| run.failed_attempts.len()) + 1
    }

    /// Returns whether an attempt has failed.
    pub(super) fn has_failed_attempts(&self) -> bool {
        self.runs.one(self.id).is_some_and(|run| !run.failed_attempts.is_empty())
    }

    /// No request joins the run from now on: it has failed in a way that invites another attempt.
    pub(super) fn forbid_joining(&self) {
        self.runs.0.send_modify(|state| {
            if let Some(live) = state.runs.get_mut(&self.id) {
                live.key = None;
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut LiveRun)) {
        self.runs.0.send_modify(|state| {
            if let Some(live) = state.runs.get_mut(&self.id) {
                change(&mut live.run);
            }
        });
    }
}

impl Drop for RunHandle {
    fn drop(&mut self) {
        self.runs.0.send_modify(|state| {
            state.runs.remove(&self.id);
        });
    }
}

impl State {
    /// The run that a request repeats.
    fn known(&self, key: &RequestKey) -> Option<Entered> {
        if !key.may_join {
            return None;
        }
        let same_key = |live: &&LiveEntry| live.key.as_ref().is_some_and(|other| other.key == key.key);
        let mut found = self.runs.values().rev().filter(same_key);
        found.find_map(|live| match &live.key {
            Some(other) if other.body != key.body => Some(Entered::Taken),
            _ => live.feed.join().map(|listener| Entered::Joined(live.run.id, listener)),
        })
    }
}

impl Phase {
    /// The name that clients see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Ending => "ending",
        }
    }
}
