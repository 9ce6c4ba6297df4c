//! The budget for a plugin's output in a run: events of one call, and bytes in total.
//!
//! A plugin can invent output that its CLI never printed, so without this budget its output would be unbounded. The bytes of
//! a single call are limited by the store before they are copied.

use agentbay_domain::{Event, PluginLimits};

/// Bytes returned so far, with the limits.
#[derive(Debug)]
pub(super) struct OutputBudget {
    max_events: usize,
    max_bytes: u64,
    bytes: u64,
}

/// A plugin returned too much.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BudgetExceeded {
    #[error("one call returned {0} events, more than `limits.plugin_events` allows")]
    Events(usize),
    #[error("one run returned more than `limits.plugin_output` allows")]
    Run,
}

impl OutputBudget {
    pub(super) fn new(limits: &PluginLimits) -> Self {
        Self { max_events: limits.events, max_bytes: limits.output, bytes: 0 }
    }

    /// Counts the events of one call.
    pub(super) fn count(&mut self, events: &[Event]) -> Result<(), BudgetExceeded> {
        if events.len() > self.max_events {
            return Err(BudgetExceeded::Events(events.len()));
        }
        let bytes = events.iter().map(Event::size).fold(self.bytes, u64::saturating_add);
        self.bytes = bytes;
        if bytes > self.max_bytes { Err(BudgetExceeded::Run) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(events: usize, output: u64) -> OutputBudget {
        OutputBudget::new(&PluginLimits { events, output, ..PluginLimits::default() })
    }

    fn texts(count: usize) -> Vec<Event> {
        vec![Event::Text("x".to_owned()); count]
    }

    #[test]
    fn the_events_of_each_call_are_limited() {
        let mut budget = budget(2, 1000);
        assert_eq!([budget.count(&texts(2)), budget.count(&texts(2))], [Ok(()), Ok(())]);
        assert_eq!(budget.count(&texts(3)), Err(BudgetExceeded::Events(3)));
    }

    #[test]
    fn the_events_of_a_run_are_limited_by_text_and_number() {
        let mut by_number = budget(10, 3 * (Event::OVERHEAD + 1));
        assert_eq!([by_number.count(&texts(2)), by_number.count(&texts(1))], [Ok(()), Ok(())]);
        assert_eq!(by_number.count(&[Event::TextBreak]), Err(BudgetExceeded::Run));
        let long = Event::Text("x".repeat(200));
        assert_eq!(budget(10, 200).count(&[long]), Err(BudgetExceeded::Run));
    }
}
