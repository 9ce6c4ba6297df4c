//! The specifics of Qwen Code in its Claude-like events. The SDK reads the events and the dialogue.

use agentbay_plugin_sdk::acp;
use agentbay_plugin_sdk::claude::{ClaudeStream, InputTokens, StreamFormat};
use agentbay_plugin_sdk::{Event, Outcome, Protocol, Turn, UsageScope, Value};

use crate::{LOGIN_HINT, plan};

/// Unlike Claude Code it includes cached tokens in the input, as OpenAI does, continues the counts of a resumed session, and prints a
/// provider's error as the assistant's text before it reports the error.
const FORMAT: StreamFormat =
    StreamFormat { input_tokens: InputTokens::All, error_prefix: "[API Error: ", usage_scope: UsageScope::Thread };

/// The transcript of one run.
#[derive(Debug)]
pub struct Events(ClaudeStream);

impl Protocol for Events {
    const NAME: &'static str = "Qwen Code";
    const LOGIN_HINT: &'static str = LOGIN_HINT;

    fn new(turn: &Turn) -> Self {
        Self(ClaudeStream::new(FORMAT).suppress_text(turn.output_schema.is_some()))
    }

    fn input(turn: &Turn) -> String {
        plan::input(turn)
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

impl acp::Dialect for Events {
    fn login_hint() -> &'static str {
        LOGIN_HINT
    }

    /// Qwen Code searches only the first text for a command.
    fn blocks(_agent: &str, prompt: &str) -> Value {
        acp::text_blocks(["", prompt])
    }

    fn needs_dialogue(turn: &Turn) -> bool {
        plan::needs_dialogue(turn)
    }
}
