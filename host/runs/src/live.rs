//! The runs that go on: who they are and how far they are, how one is cancelled or joined, and whether new ones may
//! begin.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentbay_domain::{PluginId, RunId};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::feed::{Feed, Listener};
use super::step::FailedTry;

/// The runs that go on. A clone stands for the same ones.
#[derive(Debug, Clone)]
pub(super) struct LiveRuns(Arc<watch::Sender<State>>);

/// A run that goes on, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRun {
    /// The run's name.
    pub id: RunId,
    /// The model that was asked for.
    pub model: String,
    /// The model that is at it now: another one if the first has failed.
    pub serving: String,
    /// The driver of that model.
    pub driver: PluginId,
    /// How far it is.
    pub phase: Phase,
    /// When it came.
    pub since: Timestamp,
    /// The tries that failed.
    pub failed: Vec<FailedTry>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It waits for others to end.
    Queued,
    /// Its CLI is at work.
    Running,
    /// It failed and waits to be tried again.
    Waiting,
    /// It has been answered; what its CLI left behind is cleared away.
    Ending,
}

/// What tells a request from all others, and what its client says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Says who asks what, in which session.
    pub request: [u8; 32],
    /// By what it is known to be a run that goes on, if it may come again.
    pub claim: Option<Claim>,
    /// Its client says that it has sent it before.
    pub repeated: bool,
    /// Its client wants a run, whatever is remembered of it.
    pub anew: bool,
}

/// By what a request is known again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Says who asks, under which key.
    pub key: [u8; 32],
    /// Says what is asked.
    pub body: [u8; 32],
    /// Whether the request would rather join a run that goes on than begin another.
    pub joins: bool,
}

/// A run's entry, which is there as long as this is.
#[derive(Debug)]
pub(super) struct Entry {
    runs: LiveRuns,
    id: RunId,
    /// Cancelled if somebody wants the run to end.
    pub(super) cancelled: CancellationToken,
}

/// What becomes of a request to run.
pub(super) enum Entered {
    /// It is a run of its own.
    New(Entry),
    /// It is one that goes on already.
    Joined(RunId, Listener),
    /// Its key stands for another request.
    Taken,
    /// No run may begin any more.
    Closed,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    runs: BTreeMap<RunId, Going>,
}

#[derive(Debug)]
struct Going {
    run: LiveRun,
    cancelled: CancellationToken,
    feed: Feed,
    claim: Option<Claim>,
}

impl LiveRuns {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }

    /// Takes a run in, or tells which one it is already.
    pub(super) fn enter(&self, run: LiveRun, feed: Feed, claim: Option<Claim>) -> Entered {
        let (id, cancelled) = (run.id, CancellationToken::new());
        let mut entered = Entered::Closed;
        self.0.send_modify(|state| {
            if state.closed {
                return;
            }
            entered = match claim.as_ref().and_then(|claim| state.known(claim)) {
                Some(known) => known,
                None => {
                    let going = Going { run, cancelled: cancelled.clone(), feed, claim };
                    state.runs.insert(id, going);
                    Entered::New(Entry { runs: self.clone(), id, cancelled })
                }
            };
        });
        entered
    }

    /// All of them, the oldest first.
    pub(super) fn all(&self) -> Vec<LiveRun> {
        self.0.borrow().runs.values().map(|going| going.run.clone()).collect()
    }

    /// One of them.
    pub(super) fn one(&self, id: RunId) -> Option<LiveRun> {
        self.0.borrow().runs.get(&id).map(|going| going.run.clone())
    }

    /// Ends a run, if it goes on.
    pub(super) fn cancel(&self, id: RunId) -> Option<LiveRun> {
        let state = self.0.borrow();
        let going = state.runs.get(&id)?;
        going.cancelled.cancel();
        Some(going.run.clone())
    }

    /// Lets no run begin any more.
    pub(super) fn close(&self) {
        self.0.send_modify(|state| state.closed = true);
    }

    pub(super) fn are_closed(&self) -> bool {
        self.0.borrow().closed
    }

    /// Waits until each has been answered.
    pub(super) async fn answered(&self) {
        let mut state = self.0.subscribe();
        let all_answered = |state: &State| state.runs.values().all(|going| going.run.phase == Phase::Ending);
        drop(state.wait_for(all_answered).await);
    }
}

impl Entry {
    /// The run's name.
    pub(super) fn id(&self) -> RunId {
        self.id
    }

    /// Notes how far the run is.
    pub(super) fn is(&self, phase: Phase) {
        self.change(|run| run.phase = phase);
    }

    /// Notes which model is at it.
    pub(super) fn is_served_by(&self, model: &str, driver: &PluginId) {
        self.change(|run| {
            run.serving = model.to_owned();
            run.driver = driver.clone();
        });
    }

    /// Notes a try that failed.
    pub(super) fn has_failed(&self, failed: FailedTry) {
        self.change(|run| run.failed.push(failed));
    }

    /// How often it has been tried, the last time included.
    pub(super) fn tries(&self) -> usize {
        self.runs.one(self.id).map_or(0, |run| run.failed.len()) + 1
    }

    /// Whether a try has failed already.
    pub(super) fn has_any_failed(&self) -> bool {
        self.runs.one(self.id).is_some_and(|run| !run.failed.is_empty())
    }

    /// No request joins the run any more: it has failed in a way that invites another try.
    pub(super) fn is_not_joined(&self) {
        self.runs.0.send_modify(|state| {
            if let Some(going) = state.runs.get_mut(&self.id) {
                going.claim = None;
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut LiveRun)) {
        self.runs.0.send_modify(|state| {
            if let Some(going) = state.runs.get_mut(&self.id) {
                change(&mut going.run);
            }
        });
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.runs.0.send_modify(|state| {
            state.runs.remove(&self.id);
        });
    }
}

impl State {
    /// The run that a request is known to be already.
    fn known(&self, claim: &Claim) -> Option<Entered> {
        if !claim.joins {
            return None;
        }
        let same_key = |going: &&Going| going.claim.as_ref().is_some_and(|other| other.key == claim.key);
        let mut found = self.runs.values().rev().filter(same_key);
        found.find_map(|going| match &going.claim {
            Some(other) if other.body != claim.body => Some(Entered::Taken),
            _ => going.feed.join().map(|listener| Entered::Joined(going.run.id, listener)),
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
