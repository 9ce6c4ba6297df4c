//! Whose turn it is to be compiled. Compiling takes long if its author wants it to, so that those who come later must not
//! wait for all who came before.
//!
//! Every file has a short try first. What does not get through in it goes on to the one place for long tries, where it has
//! all its time. Files that somebody vouches for, or that did well before, have a place of their own for the first try:
//! they never wait for those of which nothing is known.

use std::thread;

use tokio::sync::{Semaphore, SemaphorePermit};

/// A first try has this part of `limits.plugin_compile`: 7.5 s by default, ten times what a large plugin takes.
pub(super) const FIRST_PART: u32 = 8;

/// The places for files that are compiled.
pub(super) struct Places {
    known: Semaphore,
    unknown: Semaphore,
    long: Semaphore,
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

impl Places {
    pub(super) fn new() -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let unknown = Semaphore::new((processors / 2).max(1));
        Self { known: Semaphore::new(1), unknown, long: Semaphore::new(1) }
    }

    /// A place, once there is one: the first who asked has it first. None is ever closed.
    pub(super) async fn one(&self, attempt: Try) -> Option<SemaphorePermit<'_>> {
        let places = match attempt {
            Try::Known => &self.known,
            Try::Unknown => &self.unknown,
            Try::Long => &self.long,
        };
        places.acquire().await.ok()
    }
}
