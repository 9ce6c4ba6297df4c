//! What a plugin hands over in a run, counted: how many events at once, and how much altogether.
//!
//! Text that no CLI has printed costs a plugin nothing, so that without this it could go on for as long as its CLI says
//! anything. What a single call may hand over in bytes is limited before it is copied, by the store.

use agentbay_domain::{Event, PluginLimits};

/// What was handed over, against what may be.
#[derive(Debug)]
pub(super) struct Handed {
    most_events: usize,
    most_bytes: u64,
    bytes: u64,
}

/// A plugin handed over too much.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooMuch {
    #[error("it handed over {0} events at once, more than `limits.plugin_events` allows")]
    Events(usize),
    #[error("it handed over more in one run than `limits.plugin_output` allows")]
    Run,
}

impl Handed {
    pub(super) fn new(limits: &PluginLimits) -> Self {
        Self { most_events: limits.events, most_bytes: limits.output, bytes: 0 }
    }

    /// Counts what one call handed over.
    pub(super) fn count(&mut self, events: &[Event]) -> Result<(), TooMuch> {
        if events.len() > self.most_events {
            return Err(TooMuch::Events(events.len()));
        }
        let bytes = events.iter().map(Event::bytes).fold(self.bytes, u64::saturating_add);
        self.bytes = bytes;
        if bytes > self.most_bytes { Err(TooMuch::Run) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed(events: usize, output: u64) -> Handed {
        Handed::new(&PluginLimits { events, output, ..PluginLimits::default() })
    }

    fn texts(count: usize) -> Vec<Event> {
        vec![Event::Text("x".to_owned()); count]
    }

    #[test]
    fn the_events_of_one_call_are_limited_and_the_next_call_has_as_many() {
        let mut handed = handed(2, 1000);
        assert_eq!([handed.count(&texts(2)), handed.count(&texts(2))], [Ok(()), Ok(())]);
        assert_eq!(handed.count(&texts(3)), Err(TooMuch::Events(3)));
    }

    #[test]
    fn all_events_of_a_run_are_limited_by_their_text_and_their_number() {
        let mut by_number = handed(10, 3 * (Event::COST + 1));
        assert_eq!([by_number.count(&texts(2)), by_number.count(&texts(1))], [Ok(()), Ok(())]);
        assert_eq!(by_number.count(&[Event::TextBreak]), Err(TooMuch::Run));
        let long = Event::Text("x".repeat(200));
        assert_eq!(handed(10, 200).count(&[long]), Err(TooMuch::Run));
    }
}
