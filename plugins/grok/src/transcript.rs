//! Owns the names under which the role lines of `ax-grok` are reported. The lines themselves are read by the SDK.

use agentbay_plugin_sdk::roles::RoleLines;
use agentbay_plugin_sdk::{Event, Outcome, Protocol, Turn, Value};

/// The state of one run's lines.
#[derive(Debug)]
pub struct Lines(RoleLines);

impl Protocol for Lines {
    const NAME: &'static str = "Grok";
    const LOGIN_HINT: &'static str = crate::LOGIN_HINT;

    fn new(_turn: &Turn) -> Self {
        Self(RoleLines::default())
    }

    /// The prompt is an argument.
    fn input(_turn: &Turn) -> String {
        String::new()
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        self.0.read(event, events)
    }

    fn exited(&mut self, code: i32) -> Option<Outcome> {
        self.0.exited(code)
    }
}
