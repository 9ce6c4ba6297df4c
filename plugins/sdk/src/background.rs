//! Owns the helpers that work in the background of a turn: a CLI may say that the turn is over while they go on, and say more
//! when they are done. Until then the turn is not over.

use std::collections::BTreeSet;

use crate::Outcome;

/// How many helpers are known apart. No CLI starts as many.
const HELPERS: usize = 1000;

/// The helpers that work, and the verdict that waits for them.
#[derive(Debug, Default)]
pub struct Background {
    working: BTreeSet<String>,
    held: Option<Outcome>,
}

impl Background {
    /// A helper began.
    pub fn began(&mut self, id: String) {
        if self.working.len() < HELPERS {
            self.working.insert(id);
        }
    }

    /// A helper is done.
    pub fn ended(&mut self, id: &str) {
        self.working.remove(id);
    }

    /// These helpers work, and no other.
    pub fn are(&mut self, ids: impl IntoIterator<Item = String>) {
        self.working = ids.into_iter().take(HELPERS).collect();
    }

    /// The CLI says that the turn is over. Gives the verdict back if nobody works on, or if the turn failed.
    pub fn over(&mut self, outcome: Outcome) -> Option<Outcome> {
        if self.working.is_empty() || outcome.failure.is_some() {
            return Some(outcome);
        }
        self.held = Some(outcome);
        None
    }

    /// The verdict on a process that ended by itself with this code: the one that was held, unless helpers were lost.
    pub fn exited(&mut self, code: i32) -> Option<Outcome> {
        self.held.take().filter(|_| code == 0 || self.working.is_empty())
    }
}
