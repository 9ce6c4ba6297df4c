//! Owns the meaning of the events of `codex exec --json`. The items that are tools are in `tool.rs`.

use std::collections::BTreeSet;

use agentbay_plugin_sdk::{
    Category, Event, Level, Protocol, Speech, Turn, Usage, UsageScope, Value, failed, finished, json, notice,
};

use crate::tool::Tool;

/// The state of one run's events.
#[derive(Debug)]
pub struct Events {
    speech: Speech,
    /// Tool calls that were told and have no result yet.
    open_calls: BTreeSet<String>,
    error: String,
}

impl Protocol for Events {
    const NAME: &'static str = "Codex";

    fn new(_turn: &Turn) -> Self {
        Self { speech: Speech::default(), open_calls: BTreeSet::new(), error: String::new() }
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        match json::text(event, &["type"]) {
            Some("thread.started") => {
                events.extend(json::some_text(event, &["thread_id"]).map(|id| Event::Session(id.into())));
            }
            Some("turn.started" | "item.updated") => {}
            Some("item.started") => {
                if let Some(tool) = Tool::of(event) {
                    self.call(&tool, events);
                }
            }
            Some("item.completed") => self.completed(event, events),
            // Progress, such as "Reconnecting... 2/5": the run goes on, or `turn.failed` follows.
            Some("error") => self.warn(json::text(event, &["message"]), events),
            Some("turn.completed") => {
                events.push(Event::Usage(usage(event)));
                events.push(Event::Done(finished(None)));
            }
            Some("turn.failed") => {
                let said = json::text(event, &["error", "message"]).unwrap_or(&self.error);
                events.push(Event::Done(failed(Category::Unknown, "CLI failed", said)));
            }
            Some(_) | None => return false,
        }
        true
    }

    fn error(&self) -> &str {
        &self.error
    }
}

impl Events {
    fn completed(&mut self, event: &Value, events: &mut Vec<Event>) {
        let text = json::some_text(event, &["item", "text"]);
        match json::text(event, &["item", "type"]) {
            Some("agent_message") => {
                self.speech.part();
                self.speech.say(text.unwrap_or_default(), events);
            }
            Some("reasoning") => events.extend(text.map(|text| Event::Reasoning(text.into()))),
            // A warning, seen in runs that went well.
            Some("error") => {
                events.extend(json::text(event, &["item", "message"]).map(|said| notice(Level::Warning, said)))
            }
            Some(_) | None => {
                if let Some(tool) = Tool::of(event) {
                    // Some items are told only when they are over.
                    self.call(&tool, events);
                    self.open_calls.remove(&tool.id);
                    events.push(Event::ToolResult(tool.result()));
                }
            }
        }
    }

    fn call(&mut self, tool: &Tool, events: &mut Vec<Event>) {
        if self.open_calls.insert(tool.id.clone()) {
            events.push(Event::ToolCall(tool.call()));
        }
    }

    fn warn(&mut self, said: Option<&str>, events: &mut Vec<Event>) {
        if let Some(said) = said {
            said.clone_into(&mut self.error);
            events.push(notice(Level::Warning, said));
        }
    }
}

/// The counts are totals of the thread, earlier turns included.
fn usage(event: &Value) -> Usage {
    let tokens = |name: &str| json::count(event, &["usage", name]);
    Usage {
        scope: UsageScope::Thread,
        input: tokens("input_tokens"),
        cached_input: tokens("cached_input_tokens"),
        cache_write: tokens("cache_write_input_tokens"),
        output: tokens("output_tokens"),
        reasoning: tokens("reasoning_output_tokens"),
    }
}
