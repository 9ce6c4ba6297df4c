//! The order in which files are compiled. A component can be made to compile slowly, so a file must not wait for all that
//! arrived before it.
//!
//! Every file has a short first attempt. If that times out, it moves to the one slot for long attempts, with its full time
//! limit. Files with a verified pin or signature, or whose last version loaded, have a separate slot for the first attempt:
//! they never wait for unknown files. Of the unknown files the newest is first: it waits for at most one other, and not for
//! all that are queued.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::oneshot;

/// A first attempt has this fraction of `limits.plugin_compile_timeout`: 7.5 s by default, ten times what a large plugin takes.
pub(super) const FIRST_ATTEMPT_PART: u32 = 8;

/// The queues for compiling files.
pub(super) struct CompileQueues {
    known: Arc<Queue>,
    unknown: Arc<Queue>,
    long: Arc<Queue>,
}

/// The purpose of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueKind {
    /// The first attempt of a file with a verified pin or signature, or whose last version loaded.
    Known,
    /// The first attempt of any other file.
    Unknown,
    /// The attempt after a first one that timed out.
    Long,
}

/// The slots of one kind and the files that wait for one.
struct Queue {
    order: Order,
    waiting: Mutex<Waiting>,
}

/// Which waiting file is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Oldest,
    Newest,
}

struct Waiting {
    free: usize,
    /// Oldest first.
    all: Vec<oneshot::Sender<CompileSlot>>,
}

/// A slot. On drop it is passed to the next waiting file.
pub(super) struct CompileSlot(Option<Arc<Queue>>);

/// Number of unknown files that are compiled at once.
pub(super) fn unknown_slots() -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    (processors / 2).max(1)
}

impl CompileQueues {
    pub(super) fn new() -> Self {
        let known = Queue::new(1, Order::Oldest);
        let unknown = Queue::new(unknown_slots(), Order::Newest);
        Self { known, unknown, long: Queue::new(1, Order::Oldest) }
    }

    /// Waits for a slot.
    pub(super) async fn acquire(&self, kind: QueueKind) -> Option<CompileSlot> {
        let queue = match kind {
            QueueKind::Known => &self.known,
            QueueKind::Unknown => &self.unknown,
            QueueKind::Long => &self.long,
        };
        queue.acquire().await
    }
}

impl Queue {
    fn new(slots: usize, order: Order) -> Arc<Self> {
        Arc::new(Self { order, waiting: Mutex::new(Waiting { free: slots, all: Vec::new() }) })
    }

    async fn acquire(self: &Arc<Self>) -> Option<CompileSlot> {
        let slot = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.free > 0 {
                waiting.free -= 1;
                return Some(CompileSlot(Some(Arc::clone(self))));
            }
            let (sender, slot) = oneshot::channel();
            waiting.all.push(sender);
            slot
        };
        slot.await.ok()
    }

    /// Passes the slot to the next file that still waits.
    fn pass_on(self: Arc<Self>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.all.retain(|waits| !waits.is_closed());
        let next = match self.order {
            Order::Newest => waiting.all.pop(),
            Order::Oldest if waiting.all.is_empty() => None,
            Order::Oldest => Some(waiting.all.remove(0)),
        };
        let Some(next) = next else {
            waiting.free += 1;
            return;
        };
        drop(waiting);
        // If the receiver was dropped meanwhile, dropping the slot passes it on again.
        drop(next.send(CompileSlot(Some(self))));
    }
}

impl Drop for CompileSlot {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn polled<T>(future: Pin<&mut impl Future<Output = Option<T>>>) -> Option<T> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => slot,
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_slot_is_passed_to_the_newest_or_oldest_that_still_waits() {
        for (order, second_is_first) in [(Order::Newest, true), (Order::Oldest, false)] {
            let queue = Queue::new(1, order);
            let slot = polled(pin!(queue.acquire())).expect("the slot is free");
            let (mut first, mut second) = (pin!(queue.acquire()), pin!(queue.acquire()));
            let mut gone = Box::pin(queue.acquire());
            assert!(polled(first.as_mut()).is_none() && polled(second.as_mut()).is_none());
            assert!(polled(gone.as_mut()).is_none());
            drop(gone);
            drop(slot);
            let (early, late) = if second_is_first { (second, first) } else { (first, second) };
            let (mut early, mut late) = (early, late);
            assert!(polled(late.as_mut()).is_none());
            drop(polled(early.as_mut()).expect("it is first"));
            assert!(polled(late.as_mut()).is_some());
        }
    }

    #[test]
    fn a_slot_that_was_passed_to_a_dropped_waiter_is_not_lost() {
        let queue = Queue::new(1, Order::Newest);
        let slot = polled(pin!(queue.acquire())).expect("the slot is free");
        let mut waits = Box::pin(queue.acquire());
        assert!(polled(waits.as_mut()).is_none());
        drop(slot);
        drop(waits);
        assert!(polled(pin!(queue.acquire())).is_some());
    }
}
