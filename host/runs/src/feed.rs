//! What comes of a run, on its way to whoever listens: mostly one client, or several that asked for the same.
//!
//! It holds a bounded number of bytes. Who has heard too little holds the run back, so that a slow client slows the pipe
//! and does not fill the memory. A feed that others may join keeps everything from the beginning for as long as that
//! fits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::Event;
use tokio::sync::watch;
use tokio::time::timeout;

use super::step::Step;

/// The end that the run speaks into.
#[derive(Debug)]
pub(super) struct Writer {
    state: Arc<watch::Sender<State>>,
    limit: u64,
    /// How long a run goes on without anybody listening.
    linger: Duration,
}

/// A way to begin to listen, from the beginning.
#[derive(Debug, Clone)]
pub(super) struct Feed(Arc<watch::Sender<State>>);

/// One that listens.
#[derive(Debug)]
pub(super) struct Listener {
    state: Arc<watch::Sender<State>>,
    seen: watch::Receiver<State>,
    id: u64,
}

#[derive(Debug, Default)]
struct State {
    steps: VecDeque<Kept>,
    /// The number of the first step that is still there.
    first: u64,
    /// The bytes of all steps there have been.
    total: u64,
    /// Everything is there from the beginning, and another may begin to listen.
    open: bool,
    /// The number of the step that each listener hears next.
    listeners: BTreeMap<u64, u64>,
    ended: bool,
}

#[derive(Debug)]
struct Kept {
    step: Step,
    /// The bytes of all steps before it.
    before: u64,
}

/// A feed with one listener that holds `limit` bytes. With a `linger` others may join, and it may be without any for
/// so long.
pub(super) fn feed(limit: u64, linger: Option<Duration>) -> (Writer, Feed, Listener) {
    let mut state = State { open: linger.is_some(), ..State::default() };
    state.listeners.insert(0, 0);
    let (sender, seen) = watch::channel(state);
    let state = Arc::new(sender);
    let writer = Writer { state: Arc::clone(&state), limit, linger: linger.unwrap_or_default() };
    (writer, Feed(Arc::clone(&state)), Listener { state, seen, id: 0 })
}

impl Writer {
    /// Tells a step, as soon as there is room for it.
    pub(super) async fn tell(&self, step: Step) {
        let mut state = self.state.subscribe();
        // The sender is held here, so there always is one. What is waited for locks the state until it is dropped.
        drop(state.wait_for(|state| state.has_room(self.limit)).await);
        self.state.send_modify(|state| state.push(step, self.limit));
    }

    /// Tells the last step, whether there is room for it or not.
    pub(super) fn end(&self, last: Step) {
        self.state.send_modify(|state| {
            state.push(last, self.limit);
            state.ended = true;
        });
    }

    /// Waits until nobody listens, and until those who might come back have had their time. Nobody can join after that.
    pub(super) async fn abandoned(&self) {
        let mut state = self.state.subscribe();
        loop {
            drop(state.wait_for(|state| state.listeners.is_empty()).await);
            if !self.linger.is_zero() {
                drop(timeout(self.linger, state.wait_for(|state| !state.listeners.is_empty())).await);
            }
            let closed = self.state.send_if_modified(|state| {
                let nobody = state.listeners.is_empty();
                state.open &= !nobody;
                nobody
            });
            if closed {
                return;
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.state.send_modify(|state| state.ended = true);
    }
}

impl Feed {
    /// Begins to listen, if everything is still there.
    pub(super) fn join(&self) -> Option<Listener> {
        let mut joined = None;
        self.0.send_modify(|state| joined = state.join());
        joined.map(|id| Listener { state: Arc::clone(&self.0), seen: self.0.subscribe(), id })
    }
}

impl Listener {
    /// The next step, or nothing after the end.
    pub(super) async fn next(&mut self) -> Option<Step> {
        let id = self.id;
        drop(self.seen.wait_for(|state| state.ended || state.unheard(id)).await);
        let mut step = None;
        self.state.send_modify(|state| step = state.take(id));
        step
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.state.send_modify(|state| {
            state.listeners.remove(&self.id);
            state.trim();
        });
    }
}

impl State {
    fn end(&self) -> u64 {
        self.first + self.steps.len() as u64
    }

    /// The place of a step among those that are there.
    fn at(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    /// The bytes from a step on.
    fn bytes_from(&self, number: u64) -> u64 {
        let before = self.at(number).and_then(|at| self.steps.get(at)).map_or(self.total, |kept| kept.before);
        self.total - before
    }

    /// Whether the one who has heard least, or who might come back, can be told more.
    fn has_room(&self, limit: u64) -> bool {
        match self.listeners.values().min() {
            Some(slowest) => self.bytes_from(*slowest) < limit,
            None => !self.open || self.bytes_from(self.first) < limit,
        }
    }

    fn push(&mut self, step: Step, limit: u64) {
        if self.bytes_from(self.first) >= limit {
            self.open = false;
        }
        let before = self.total;
        self.total += weight(&step);
        self.steps.push_back(Kept { step, before });
        self.trim();
    }

    /// Drops what everybody has heard, unless another may want to hear it.
    fn trim(&mut self) {
        if self.open {
            return;
        }
        let needed = self.listeners.values().min().copied().unwrap_or_else(|| self.end());
        while self.first < needed && self.steps.pop_front().is_some() {
            self.first += 1;
        }
    }

    fn join(&mut self) -> Option<u64> {
        if !self.open {
            return None;
        }
        let id = self.listeners.keys().next_back().map_or(0, |last| last + 1);
        self.listeners.insert(id, self.first);
        Some(id)
    }

    fn unheard(&self, listener: u64) -> bool {
        self.listeners.get(&listener).is_some_and(|next| *next < self.end())
    }

    fn take(&mut self, listener: u64) -> Option<Step> {
        let next = self.listeners.get(&listener).copied()?;
        let at = self.at(next)?;
        let alone = !self.open && at == 0 && self.listeners.len() == 1;
        let step = if alone {
            self.first += 1;
            self.steps.pop_front()?.step
        } else {
            self.steps.get(at)?.step.clone()
        };
        self.listeners.insert(listener, next + 1);
        self.trim();
        Some(step)
    }
}

/// The bytes that a step takes, about.
fn weight(step: &Step) -> u64 {
    match step {
        Step::Reply(reply) => reply.bytes(),
        Step::Session(id) => Event::COST + id.len() as u64,
        Step::Ended(ended) => Event::COST + ended.outcome.text_len() as u64,
        Step::Trying { .. } | Step::Failed(_) | Step::PluginFailed(_) => Event::COST,
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::Reply;
    use futures_util::FutureExt;

    use super::*;

    fn text(text: &str) -> Step {
        Step::Reply(Reply::Added { at: 0, text: text.to_owned() })
    }

    /// What can be told at once.
    fn told(writer: &Writer, step: &Step) -> bool {
        writer.tell(step.clone()).now_or_never().is_some()
    }

    fn heard(listener: &mut Listener) -> Option<Step> {
        listener.next().now_or_never().expect("something to hear")
    }

    #[test]
    fn who_hears_nothing_holds_the_run_back_and_only_the_end_gets_through() {
        let (writer, _feed, mut listener) = feed(2 * Event::COST, None);
        let step = text("a");
        assert_eq!([told(&writer, &step), told(&writer, &step), told(&writer, &step)], [true, true, false]);
        assert_eq!(heard(&mut listener), Some(step.clone()));
        assert!(told(&writer, &step));
        writer.end(text("end"));
        let rest: Vec<_> = std::iter::from_fn(|| heard(&mut listener)).collect();
        assert_eq!(rest, [step.clone(), step, text("end")]);
    }

    #[test]
    fn what_has_been_heard_is_not_kept() {
        let (writer, feed, mut listener) = feed(1000, None);
        assert!(told(&writer, &text("a")));
        assert!(heard(&mut listener).is_some());
        assert_eq!(feed.0.borrow().steps.len(), 0);
        assert!(feed.join().is_none());
    }

    #[test]
    fn one_that_joins_hears_everything_and_each_at_its_own_pace() {
        let (writer, feed, mut first) = feed(1000, Some(Duration::ZERO));
        assert!(told(&writer, &text("a")));
        assert_eq!(heard(&mut first), Some(text("a")));
        let mut second = feed.join().unwrap();
        assert!(told(&writer, &text("b")));
        assert_eq!([heard(&mut second), heard(&mut second)], [Some(text("a")), Some(text("b"))]);
        drop(writer);
        assert_eq!([heard(&mut first), heard(&mut first), heard(&mut second)], [Some(text("b")), None, None]);
    }

    #[test]
    fn a_feed_that_has_grown_too_long_cannot_be_joined_and_holds_no_more_than_is_unheard() {
        let (writer, feed, mut listener) = feed(2 * Event::COST, Some(Duration::ZERO));
        for _ in 0..4 {
            assert!(told(&writer, &text("a")));
            assert!(heard(&mut listener).is_some());
        }
        assert!(feed.join().is_none());
        assert_eq!(feed.0.borrow().steps.len(), 0);
    }

    #[tokio::test]
    async fn a_run_is_abandoned_when_nobody_came_back_in_time() {
        let (writer, feed, listener) = feed(1000, Some(Duration::from_millis(20)));
        assert!(writer.abandoned().now_or_never().is_none());
        drop(listener);
        assert!(writer.abandoned().now_or_never().is_none());
        let back = feed.join().unwrap();
        assert!(writer.abandoned().now_or_never().is_none());
        drop(back);
        writer.abandoned().await;
        assert!(feed.join().is_none());
    }
}
