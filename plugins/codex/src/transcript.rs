//! Owns the meaning of the events of `codex exec --json`. The items that are tools are in `tool.rs`.

use std::collections::BTreeSet;

use agentbay_plugin_sdk::{
    Category, Event, Level, Outcome, Protocol, Speech, Stop, Turn, Usage, UsageScope, Value, classify, failed,
    finished, json, notice,
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
    /// The kind of the last item that is not known.
    unknown_item: Option<String>,
    error: String,
}

impl Protocol for Events {
    const NAME: &'static str = "Codex";
    const LOGIN_HINT: &'static str = LOGIN_HINT;

    fn new(_turn: &Turn) -> Self {
        Self { speech: Speech::default(), open_calls: BTreeSet::new(), unknown_item: None, error: String::new() }
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
                events.push(Event::Done(self.completed_turn()));
            }
            Some("turn.failed") => {
                events.push(Event::Done(failed_turn(json::text(event, &["error", "message"]).unwrap_or(&self.error))));
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
        let kind = tool::kind(event);
        match kind {
            Some("agent_message" | "assistant_message") => {
                self.speech.part();
                self.speech.say(text.unwrap_or_default(), events);
            }
            Some("reasoning") => events.extend(text.map(|text| Event::Reasoning(text.into()))),
            // A warning, seen in runs that went well.
            Some("error") => {
                events.extend(json::text(event, &["item", "message"]).map(|said| notice(Level::Warning, said)))
            }
            Some("todo_list") | None => {}
            Some(other) => {
                if let Some(tool) = Tool::of(event) {
                    // Some items are told only when they are over.
                    self.call(&tool, events);
                    self.open_calls.remove(&tool.id);
                    events.push(Event::ToolResult(tool.result()));
                } else {
                    self.unknown_item = Some(other.chars().take(SHOWN_CHARS).collect());
                }
            }
        }
    }

    /// A turn in which nothing was said is one all the same, unless there was something that may have been the answer.
    fn completed_turn(&self) -> Outcome {
        match &self.unknown_item {
            Some(kind) if !self.speech.spoke() => {
                let message = format!("Codex told its answer in a form that is not known: item `{kind}`");
                failed(Category::Unknown, message, "")
            }
            Some(_) | None => finished(None),
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

/// An answer that was cut off is one: a client knows by the reason why it ends there.
fn failed_turn(said: &str) -> Outcome {
    if said.contains(TOKENS_SPENT) {
        return Outcome { stop: Stop::MaxTokens, ..finished(None) };
    }
    classify::failure(said).into()
}

/// The counts are totals of the thread, earlier turns included. What the last turn took is told nowhere in these events.
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
