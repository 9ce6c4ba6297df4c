//! The steps of a run on their way to its listeners: one client, or several that sent the same request.
//!
//! A feed holds a bounded number of bytes. A listener that is too far behind delays the run, so that a slow client slows the
//! pipe and does not fill the memory. A feed that others may join keeps everything from the start while that fits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::Event;
use tokio::sync::watch;
use tokio::time::timeout;

use super::step::Step;

/// The end that the run writes to.
#[derive(Debug)]
pub(super) struct Writer {
    state: Arc<watch::Sender<State>>,
    limit: u64,
    /// How long a run continues without a listener.
    linger: Duration,
}

/// A handle for joining, from the start.
#[derive(Debug, Clone)]
pub(super) struct Feed(Arc<watch::Sender<State>>);

/// The end that a client reads from.
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
    /// The bytes of all steps so far.
    total: u64,
    /// Everything from the start is still there, and others may join.
    open: bool,
    /// The number of the step that each listener reads next.
    listeners: BTreeMap<u64, u64>,
    ended: bool,
}

#[derive(Debug)]
struct Kept {
    step: Step,
    /// The bytes of all steps before it.
    before: u64,
}

/// A feed with one listener that holds `limit` bytes. With a `linger` others may join, and the run continues that long
/// without a listener.
pub(super) fn feed(limit: u64, linger: Option<Duration>) -> (Writer, Feed, Listener) {
    let mut state = State { open: linger.is_some(), ..State::default() };
    state.listeners.insert(0, 0);
    let (sender, seen) = watch::channel(state);
    let state = Arc::new(sender);
    let writer = Writer { state: Arc::clone(&state), limit, linger: linger.unwrap_or_default() };
    (writer, Feed(Arc::clone(&state)), Listener { state, seen, id: 0 })
}

impl Writer {
    /// Sends a step as soon as it fits.
    pub(super) async fn send(&self, step: Step) {
        let mut state = self.state.subscribe();
        // The sender is held here, so the wait cannot fail. Its result locks the state until it is dropped.
        drop(state.wait_for(|state| state.has_room(self.limit)).await);
        self.state.send_modify(|state| state.push(step, self.limit));
    }

    /// Sends the last step, whether it fits or not.
    pub(super) fn end(&self, last: Step) {
        self.state.send_modify(|state| {
            state.push(last, self.limit);
            state.ended = true;
        });
    }

    /// Waits until there is no listener, and none has returned within `linger`. Nobody can join after that.
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
    /// Joins, if everything from the start is still there.
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
        drop(self.seen.wait_for(|state| state.ended || state.has_unread(id)).await);
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

    /// The index of a step among those that are kept.
    fn at(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    /// The bytes of a step and all later ones.
    fn bytes_from(&self, number: u64) -> u64 {
        let before = self.at(number).and_then(|at| self.steps.get(at)).map_or(self.total, |kept| kept.before);
        self.total - before
    }

    /// Returns whether the listener that is furthest behind, or one that may return, can take more.
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

    /// Drops what every listener has read, unless others may join.
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

    fn has_unread(&self, listener: u64) -> bool {
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

/// The bytes that a step takes, approximately.
fn weight(step: &Step) -> u64 {
    match step {
        Step::Reply(reply) => reply.size(),
        Step::Session(id) => Event::OVERHEAD + id.len() as u64,
        Step::Ended(ended) => Event::OVERHEAD + ended.outcome.text_len() as u64,
        Step::Trying { .. } | Step::Failed(_) | Step::PluginFailed(_) => Event::OVERHEAD,
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

    /// Returns whether a step can be sent at once.
    fn sent(writer: &Writer, step: &Step) -> bool {
        writer.send(step.clone()).now_or_never().is_some()
    }

    fn read(listener: &mut Listener) -> Option<Step> {
        listener.next().now_or_never().expect("a step or the end")
    }

    #[test]
    fn a_listener_that_does_not_read_delays_the_run_and_only_the_end_is_sent() {
        let (writer, _feed, mut listener) = feed(2 * Event::OVERHEAD, None);
        let step = text("a");
        assert_eq!([sent(&writer, &step), sent(&writer, &step), sent(&writer, &step)], [true, true, false]);
        assert_eq!(read(&mut listener), Some(step.clone()));
        assert!(sent(&writer, &step));
        writer.end(text("end"));
        let rest: Vec<_> = std::iter::from_fn(|| read(&mut listener)).collect();
        assert_eq!(rest, [step.clone(), step, text("end")]);
    }

    #[test]
    fn what_has_been_read_is_not_kept() {
        let (writer, feed, mut listener) = feed(1000, None);
        assert!(sent(&writer, &text("a")));
        assert!(read(&mut listener).is_some());
        assert_eq!(feed.0.borrow().steps.len(), 0);
        assert!(feed.join().is_none());
    }

    #[test]
    fn a_listener_that_joins_reads_everything_at_its_own_pace() {
        let (writer, feed, mut first) = feed(1000, Some(Duration::ZERO));
        assert!(sent(&writer, &text("a")));
        assert_eq!(read(&mut first), Some(text("a")));
        let mut second = feed.join().unwrap();
        assert!(sent(&writer, &text("b")));
        assert_eq!([read(&mut second), read(&mut second)], [Some(text("a")), Some(text("b"))]);
        drop(writer);
        assert_eq!([read(&mut first), read(&mut first), read(&mut second)], [Some(text("b")), None, None]);
    }

    #[test]
    fn a_feed_over_its_limit_cannot_be_joined_and_keeps_only_what_is_unread() {
        let (writer, feed, mut listener) = feed(2 * Event::OVERHEAD, Some(Duration::ZERO));
        for _ in 0..4 {
            assert!(sent(&writer, &text("a")));
            assert!(read(&mut listener).is_some());
        }
        assert!(feed.join().is_none());
        assert_eq!(feed.0.borrow().steps.len(), 0);
    }

    #[tokio::test]
    async fn a_run_is_abandoned_if_no_listener_returns_in_time() {
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
