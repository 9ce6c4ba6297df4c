//! Whose turn it is to be compiled. Compiling takes long if its author wants it to, so that those who come later must not
//! wait for all who came before.
//!
//! Every file has a short try first. What does not get through in it goes on to the one place for long tries, where it has
//! all its time. Files that somebody vouches for, or that did well before, have a place of their own for the first try:
//! they never wait for those of which nothing is known. Of those, the newest comes first: it waits for one of the others at
//! the most, and not for all that lie there already.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::oneshot;

/// A first try has this part of `limits.plugin_compile`: 7.5 s by default, ten times what a large plugin takes.
pub(super) const FIRST_PART: u32 = 8;

/// The places for files that are compiled.
pub(super) struct Places {
    known: Arc<Queue>,
    unknown: Arc<Queue>,
    long: Arc<Queue>,
}

/// What a place is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Try {
    /// The first try of a file that somebody vouches for, or that did well before.
    Known,
    /// The first try of any other.
    Unknown,
    /// Whatever did not get through in its first.
    Long,
}

/// Those who wait for a place of one kind.
struct Queue {
    next: Next,
    waiting: Mutex<Waiting>,
}

/// Who comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Oldest,
    Newest,
}

struct Waiting {
    free: usize,
    /// The oldest first.
    all: Vec<oneshot::Sender<Place>>,
}

/// A place. It is given on when it is dropped, wherever that happens.
pub(super) struct Place(Option<Arc<Queue>>);

/// How many files of which nothing is known are tried at once.
pub(super) fn unknown_at_once() -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    (processors / 2).max(1)
}

impl Places {
    pub(super) fn new() -> Self {
        let known = Queue::new(1, Next::Oldest);
        let unknown = Queue::new(unknown_at_once(), Next::Newest);
        Self { known, unknown, long: Queue::new(1, Next::Oldest) }
    }

    /// A place, once there is one.
    pub(super) async fn one(&self, attempt: Try) -> Option<Place> {
        let queue = match attempt {
            Try::Known => &self.known,
            Try::Unknown => &self.unknown,
            Try::Long => &self.long,
        };
        queue.one().await
    }
}

impl Queue {
    fn new(places: usize, next: Next) -> Arc<Self> {
        Arc::new(Self { next, waiting: Mutex::new(Waiting { free: places, all: Vec::new() }) })
    }

    async fn one(self: &Arc<Self>) -> Option<Place> {
        let place = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.free > 0 {
                waiting.free -= 1;
                return Some(Place(Some(Arc::clone(self))));
            }
            let (give, place) = oneshot::channel();
            waiting.all.push(give);
            place
        };
        place.await.ok()
    }

    /// Gives a place to the next who still waits for one.
    fn give_on(self: Arc<Self>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.all.retain(|waits| !waits.is_closed());
        let next = match self.next {
            Next::Newest => waiting.all.pop(),
            Next::Oldest if waiting.all.is_empty() => None,
            Next::Oldest => Some(waiting.all.remove(0)),
        };
        let Some(next) = next else {
            waiting.free += 1;
            return;
        };
        drop(waiting);
        // Whoever has gone away meanwhile gives it on by dropping it, here or where it was received.
        drop(next.send(Place(Some(self))));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.give_on();
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
            Poll::Ready(place) => place,
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_place_goes_to_the_newest_or_the_oldest_of_those_who_still_wait() {
        for (next, second_comes_first) in [(Next::Newest, true), (Next::Oldest, false)] {
            let queue = Queue::new(1, next);
            let place = polled(pin!(queue.one())).expect("it is free");
            let (mut first, mut second) = (pin!(queue.one()), pin!(queue.one()));
            let mut gone = Box::pin(queue.one());
            assert!(polled(first.as_mut()).is_none() && polled(second.as_mut()).is_none());
            assert!(polled(gone.as_mut()).is_none());
            drop(gone);
            drop(place);
            let (early, late) = if second_comes_first { (second, first) } else { (first, second) };
            let (mut early, mut late) = (early, late);
            assert!(polled(late.as_mut()).is_none());
            drop(polled(early.as_mut()).expect("it comes first"));
            assert!(polled(late.as_mut()).is_some());
        }
    }

    #[test]
    fn a_place_that_was_given_to_somebody_who_then_goes_away_is_not_lost() {
        let queue = Queue::new(1, Next::Newest);
        let place = polled(pin!(queue.one())).expect("it is free");
        let mut waits = Box::pin(queue.one());
        assert!(polled(waits.as_mut()).is_none());
        drop(place);
        drop(waits);
        assert!(polled(pin!(queue.one())).is_some());
    }
}
