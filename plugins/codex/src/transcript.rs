//! The meaning of the events of `codex exec --json`. `tool.rs` reads the items that are tool calls.

use std::collections::BTreeSet;

use agentbay_plugin_sdk::{
    AnswerText, Event, Level, Outcome, Protocol, Stop, Turn, Usage, UsageScope, Value, classify, finished, json,
    notice, usage_of,
};

use crate::LOGIN_HINT;
use crate::tool::{self, Tool};

/// Codex's message for an answer that reached the token limit.
const TOKENS_SPENT: &str = "max_output_tokens";

/// Maximum number of characters of an unknown name.
const SHOWN_CHARS: usize = 60;

/// The transcript of one run.
#[derive(Debug)]
pub struct Events {
    answer_text: AnswerText,
    /// Emitted tool calls without a result.
    open_calls: BTreeSet<String>,
    /// The kind of the last unknown item; empty if there was none.
    unknown_item: String,
    error: String,
}

impl Protocol for Events {
    const NAME: &'static str = "Codex";
    const LOGIN_HINT: &'static str = LOGIN_HINT;

    fn new(_turn: &Turn) -> Self {
        Self {
            answer_text: AnswerText::default(),
            open_calls: BTreeSet::new(),
            unknown_item: String::new(),
            error: String::new(),
        }
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        match json::text(event, &["type"]) {
            Some("thread.started") => {
                events.extend(json::non_empty_id(event, &["thread_id"]).map(Event::Session));
            }
            Some("turn.started" | "item.updated") => {}
            Some("item.started") => {
                if let Some(tool) = Tool::of(event) {
                    self.call(&tool, events);
                }
            }
            Some("item.completed") => self.completed(event, events),
            // Progress, such as "Reconnecting... 2/5": the run continues, or `turn.failed` follows.
            Some("error") => self.warn(&json::error_message(event), events),
            Some("turn.completed") => {
                events.extend(usage(event).map(Event::Usage));
                events.push(Event::Done(Self::completed_turn(event)));
            }
            Some("turn.failed") => {
                let message =
                    json::at(event, &["error"]).map(json::error_message).filter(|message| !message.is_empty());
                events.push(Event::Done(failed_turn(message.as_deref().unwrap_or(&self.error))));
            }
            Some(_) | None => return false,
        }
        true
    }

    fn error(&self) -> &str {
        &self.error
    }

    fn unknown(&self) -> &str {
        &self.unknown_item
    }
}

impl Events {
    fn completed(&mut self, event: &Value, events: &mut Vec<Event>) {
        let nested = || json::non_empty_text(event, &["item", "agent_message", "text"]);
        let text = json::non_empty_text(event, &["item", "text"]).or_else(nested);
        // An older format has the message in a field with the event's name.
        let kind = tool::kind(event).or_else(|| nested().map(|_| "agent_message"));
        match kind {
            Some("agent_message" | "assistant_message") => {
                self.answer_text.end_message();
                if json::at(event, &["item", "text"]).is_some_and(|text| !text.is_string()) {
                    self.unknown_item = "agent_message".into();
                }
                self.answer_text.push(text.unwrap_or_default(), events);
            }
            Some("reasoning") => events.extend(text.map(|text| Event::Reasoning(text.into()))),
            // A warning, seen in successful runs.
            Some("error") => {
                events.extend(json::text(event, &["item", "message"]).map(|message| notice(Level::Warning, message)))
            }
            Some("todo_list") => {}
            None => self.unknown_item = "of no type".into(),
            Some(other) => {
                if let Some(tool) = Tool::of(event) {
                    // Some items are printed only when they end.
                    self.call(&tool, events);
                    self.open_calls.remove(&tool.id);
                    events.push(Event::ToolResult(tool.result()));
                } else {
                    self.unknown_item = other.chars().take(SHOWN_CHARS).collect();
                }
            }
        }
    }

    /// The failure in a field of the event that ends the turn.
    fn completed_turn(event: &Value) -> Outcome {
        let error = json::at(event, &["error"]).filter(|error| json::is_error(error));
        error.map_or_else(|| finished(None), |error| failed_turn(&json::error_message(error)))
    }

    fn call(&mut self, tool: &Tool, events: &mut Vec<Event>) {
        if self.open_calls.insert(tool.id.clone()) {
            events.push(Event::ToolCall(tool.call()));
        }
    }

    fn warn(&mut self, message: &str, events: &mut Vec<Event>) {
        if !message.is_empty() {
            message.clone_into(&mut self.error);
            events.push(notice(Level::Warning, message));
        }
    }
}

/// The outcome of a failed turn. A token limit is not a failure: the stop reason informs the client.
fn failed_turn(message: &str) -> Outcome {
    if message.contains(TOKENS_SPENT) {
        return Outcome { stop: Stop::MaxTokens, ..finished(None) };
    }
    classify::failure(message).into()
}

/// The counts are totals of the thread, including earlier turns. No event has those of the last turn.
fn usage(event: &Value) -> Option<Usage> {
    usage_of(event, UsageScope::Thread)
}
