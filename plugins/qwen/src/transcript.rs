//! Owns what is Qwen Code's own in the Claude-like events it prints. The events themselves are read by the SDK.

use agentbay_plugin_sdk::claude::{ClaudeStream, InputTokens};
use agentbay_plugin_sdk::{Event, Protocol, Turn, Value};

/// The state of one run's events.
#[derive(Debug)]
pub struct Events(ClaudeStream);

impl Protocol for Events {
    const NAME: &'static str = "Qwen Code";

    fn new(_turn: &Turn) -> Self {
        // Unlike Claude Code it counts what came from a cache among the input, as OpenAI does.
        Self(ClaudeStream::new(InputTokens::All))
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        self.0.read(event, events)
    }

    fn error(&self) -> &str {
        self.0.error()
    }
}
