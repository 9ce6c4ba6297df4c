//! Owns the meaning of the events of `codex exec --json`. The items that are tools are in `tool.rs`.

use std::collections::BTreeSet;

use agentbay_plugin_sdk::{
    Event, Level, Outcome, Protocol, Speech, Stop, Turn, Usage, UsageScope, Value, classify, finished, json, notice,
    usage_beside,
};

use crate::LOGIN_HINT;
use crate::tool::{self, Tool};

/// What Codex calls an answer that was cut off at the limit of tokens.
const TOKENS_SPENT: &str = "max_output_tokens";

/// How much of an unknown name is shown.
const SHOWN_CHARS: usize = 60;

/// The state of one run's events.
#[derive(Debug)]
pub struct Events {
    speech: Speech,
    /// Tool calls that were told and have no result yet.
    open_calls: BTreeSet<String>,
    /// The kind of the last item that is not known; empty if there was none.
    unknown_item: String,
    error: String,
}

impl Protocol for Events {
    const NAME: &'static str = "Codex";
    const LOGIN_HINT: &'static str = LOGIN_HINT;

    fn new(_turn: &Turn) -> Self {
        Self {
            speech: Speech::default(),
            open_calls: BTreeSet::new(),
            unknown_item: String::new(),
            error: String::new(),
        }
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        match json::text(event, &["type"]) {
            Some("thread.started") => {
                events.extend(json::some_id(event, &["thread_id"]).map(Event::Session));
            }
            Some("turn.started" | "item.updated") => {}
            Some("item.started") => {
                if let Some(tool) = Tool::of(event) {
                    self.call(&tool, events);
                }
            }
            Some("item.completed") => self.completed(event, events),
            // Progress, such as "Reconnecting... 2/5": the run goes on, or `turn.failed` follows.
            Some("error") => self.warn(&json::error_words(event), events),
            Some("turn.completed") => {
                events.extend(usage(event).map(Event::Usage));
                events.push(Event::Done(Self::completed_turn(event)));
            }
            Some("turn.failed") => {
                let said = json::at(event, &["error"]).map(json::error_words).filter(|said| !said.is_empty());
                events.push(Event::Done(failed_turn(said.as_deref().unwrap_or(&self.error))));
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
        let nested = || json::some_text(event, &["item", "agent_message", "text"]);
        let text = json::some_text(event, &["item", "text"]).or_else(nested);
        // An older form has the message in a field by its name.
        let kind = tool::kind(event).or_else(|| nested().map(|_| "agent_message"));
        match kind {
            Some("agent_message" | "assistant_message") => {
                self.speech.part();
                if json::at(event, &["item", "text"]).is_some_and(|text| !text.is_string()) {
                    self.unknown_item = "agent_message".into();
                }
                self.speech.say(text.unwrap_or_default(), events);
            }
            Some("reasoning") => events.extend(text.map(|text| Event::Reasoning(text.into()))),
            // A warning, seen in runs that went well.
            Some("error") => {
                events.extend(json::text(event, &["item", "message"]).map(|said| notice(Level::Warning, said)))
            }
            Some("todo_list") => {}
            None => self.unknown_item = "of no type".into(),
            Some(other) => {
                if let Some(tool) = Tool::of(event) {
                    // Some items are told only when they are over.
                    self.call(&tool, events);
                    self.open_calls.remove(&tool.id);
                    events.push(Event::ToolResult(tool.result()));
                } else {
                    self.unknown_item = other.chars().take(SHOWN_CHARS).collect();
                }
            }
        }
    }

    /// A failure may also be a field of the event that ends the turn.
    fn completed_turn(event: &Value) -> Outcome {
        let error = json::at(event, &["error"]).filter(|error| json::is_error(error));
        error.map_or_else(|| finished(None), |error| failed_turn(&json::error_words(error)))
    }

    fn call(&mut self, tool: &Tool, events: &mut Vec<Event>) {
        if self.open_calls.insert(tool.id.clone()) {
            events.push(Event::ToolCall(tool.call()));
        }
    }

    fn warn(&mut self, said: &str, events: &mut Vec<Event>) {
        if !said.is_empty() {
            said.clone_into(&mut self.error);
            events.push(notice(Level::Warning, said));
        }
    }
}

/// An answer that was cut off is one: a client knows by the reason why it ends there.
fn failed_turn(said: &str) -> Outcome {
    if said.contains(TOKENS_SPENT) {
        return Outcome { stop: Stop::MaxTokens, ..finished(None) };
    }
    classify::failure(said).into()
}

/// The counts are totals of the thread, earlier turns included. What the last turn took is told nowhere in these events.
fn usage(event: &Value) -> Option<Usage> {
    usage_beside(event, UsageScope::Thread)
}
