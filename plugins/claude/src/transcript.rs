//! The specifics of Claude Code: the form of the prompt, and its token counts. The SDK reads the events.

use agentbay_plugin_sdk::claude::{ClaudeStream, InputTokens, StreamFormat, user_message};
use agentbay_plugin_sdk::{Event, Outcome, Protocol, Turn, UsageScope, Value};

use crate::LOGIN_HINT;

const FORMAT: StreamFormat =
    StreamFormat { input_tokens: InputTokens::Uncached, error_prefix: "", usage_scope: UsageScope::Run };

/// The transcript of one run.
#[derive(Debug)]
pub struct Events(ClaudeStream);

impl Protocol for Events {
    const NAME: &'static str = "Claude Code";
    const LOGIN_HINT: &'static str = LOGIN_HINT;

    fn new(turn: &Turn) -> Self {
        Self(ClaudeStream::new(FORMAT).suppress_text(turn.output_schema.is_some()))
    }

    fn input(turn: &Turn) -> String {
        user_message(&turn.prompt)
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        self.0.read(event, events)
    }

    fn error(&self) -> &str {
        self.0.error()
    }

    fn unknown(&self) -> &str {
        self.0.unknown()
    }

    fn exited(&mut self, code: i32) -> Option<Outcome> {
        self.0.exited(code)
    }
}
