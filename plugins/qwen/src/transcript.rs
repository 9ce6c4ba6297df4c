//! Owns what is Qwen Code's own in the Claude-like events it prints. The events themselves are read by the SDK,
//! and so is its dialogue.

use agentbay_plugin_sdk::acp;
use agentbay_plugin_sdk::claude::{ClaudeStream, Dialect, InputTokens};
use agentbay_plugin_sdk::{Event, Outcome, Protocol, Turn, UsageScope, Value};

use crate::{LOGIN_HINT, plan};

/// Unlike Claude Code it counts what came from a cache among the input, as OpenAI does, counts on from a resumed session, and
/// prints an error of its provider as the assistant's text before it tells it as an error.
const DIALECT: Dialect =
    Dialect { input_tokens: InputTokens::All, error_text: "[API Error: ", usage_scope: UsageScope::Thread };

/// The state of one run's events.
#[derive(Debug)]
pub struct Events(ClaudeStream);

impl Protocol for Events {
    const NAME: &'static str = "Qwen Code";
    const LOGIN_HINT: &'static str = LOGIN_HINT;

    fn new(turn: &Turn) -> Self {
        Self(ClaudeStream::new(DIALECT).silent(turn.output_schema.is_some()))
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

    /// A command is looked for in the first text, and only there.
    fn blocks(_agent: &str, prompt: &str) -> Value {
        acp::text_blocks(["", prompt])
    }

    fn needs_dialogue(turn: &Turn) -> bool {
        plan::needs_dialogue(turn)
    }
}
