//! Background tasks of a turn. A CLI may report the end of the turn while they still work, and produce more output when they
//! finish. The turn lasts until then.

use std::collections::BTreeSet;

use crate::Outcome;

/// Maximum number of tracked tasks, far above what a CLI starts.
const MAX_TASKS: usize = 1000;

/// The running tasks, and the outcome that waits for them.
#[derive(Debug, Default)]
pub struct BackgroundTasks {
    running: BTreeSet<String>,
    held: Option<Outcome>,
}

impl BackgroundTasks {
    /// Adds a running task.
    pub fn started(&mut self, id: String) {
        if self.running.len() < MAX_TASKS {
            self.running.insert(id);
        }
    }

    /// Removes a task.
    pub fn finished(&mut self, id: &str) {
        self.running.remove(id);
    }

    /// Replaces the set of running tasks.
    pub fn set(&mut self, ids: impl IntoIterator<Item = String>) {
        self.running = ids.into_iter().take(MAX_TASKS).collect();
    }

    /// Called when the CLI reports the end of the turn. Returns the outcome at once if no task is running or the turn failed.
    pub fn turn_ended(&mut self, outcome: Outcome) -> Option<Outcome> {
        if self.running.is_empty() || outcome.failure.is_some() {
            return Some(outcome);
        }
        self.held = Some(outcome);
        None
    }

    /// The outcome of a process that exited with this code: the held one, unless tasks were lost.
    pub fn exited(&mut self, code: i32) -> Option<Outcome> {
        self.held.take().filter(|_| code == 0 || self.running.is_empty())
    }
}
