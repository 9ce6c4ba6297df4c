//! A response in the background: its events, which clients can read from any number on while they are kept, and its end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::RunId;
use agentbay_wire::responses::{Item, Response};
use axum::body::Bytes;
use tokio::sync::watch;
use tokio::time::timeout;

use super::store::{Stored, size_of};

/// The log of a response. A clone shares it.
#[derive(Debug, Clone)]
pub(super) struct Log {
    /// The run of the response.
    pub(super) run: RunId,
    /// The response before its first output.
    pub(super) response: Arc<Response>,
    /// What stands before its output.
    pub(super) input: Arc<[Item]>,
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Bytes>,
    /// The number of the first event that is still kept.
    first: u64,
    /// The bytes of the events.
    size: u64,
    /// The most bytes of events that are kept.
    limit: u64,
    /// A client has cancelled the response.
    is_cancelled: bool,
    ended: Option<Stored>,
}

/// The next event of a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// An event.
    Event(Bytes),
    /// None has arrived for some time.
    Silence,
    /// The event is not kept any more.
    Lost,
    /// There are no more.
    End,
}

impl Log {
    /// An empty log, which keeps this many bytes of events.
    pub(super) fn new(run: RunId, response: Response, input: &[Item], limit: u64) -> Self {
        let state = Arc::new(watch::Sender::new(State { limit, ..State::default() }));
        Self { run, response: Arc::new(response), input: input.into(), state }
    }

    /// Adds events. The oldest ones are forgotten if they are too many.
    pub(super) fn add(&self, events: impl IntoIterator<Item = Bytes>) {
        self.state.send_modify(|state| {
            for event in events {
                state.size += event.len() as u64;
                state.events.push_back(event);
            }
            while state.size > state.limit
                && let Some(oldest) = state.events.pop_front()
            {
                state.size -= oldest.len() as u64;
                state.first += 1;
            }
        });
    }

    /// Marks the response as cancelled. The run has to be ended by the caller.
    pub(super) fn cancel(&self) {
        self.state.send_modify(|state| state.is_cancelled = true);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.state.borrow().is_cancelled
    }

    /// Ends the log.
    pub(super) fn end(&self, stored: Stored) {
        self.state.send_modify(|state| state.ended = Some(stored));
    }

    /// The response, if it has ended.
    pub(super) fn ended(&self) -> Option<Stored> {
        self.state.borrow().ended.clone()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state.borrow().ended.is_some()
    }

    /// Waits until the response has ended.
    pub(super) async fn wait(&self) {
        drop(self.state.subscribe().wait_for(|state| state.ended.is_some()).await);
    }

    /// Waits for the event with a number.
    pub(super) async fn next(&self, number: u64, keep_alive: Duration) -> Next {
        let mut changes = self.state.subscribe();
        let is_decided = |state: &State| state.ended.is_some() || number < state.end();
        let waited = timeout(keep_alive, changes.wait_for(is_decided)).await;
        if waited.is_err() {
            return Next::Silence;
        }
        drop(waited);
        let state = self.state.borrow();
        let Some(at) = number.checked_sub(state.first) else { return Next::Lost };
        let event = usize::try_from(at).ok().and_then(|at| state.events.get(at));
        event.map_or(Next::End, |event| Next::Event(event.clone()))
    }

    /// The bytes that it takes.
    pub(super) fn size(&self) -> u64 {
        let state = self.state.borrow();
        state.size + state.ended.as_ref().map_or_else(|| size_of(&self.input), Stored::size)
    }
}

impl State {
    /// The number of the next event.
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }
}
