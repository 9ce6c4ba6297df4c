//! Owns the meaning of the events of Gemini CLI's `stream-json`.

use agentbay_plugin_sdk::{
    Category, Event, Level, Protocol, Speech, ToolCall, ToolResult, Turn, Usage, UsageScope, Value, failed, finished,
    json, notice,
};

/// The state of one run's events.
#[derive(Debug)]
pub struct Events {
    speech: Speech,
    error: String,
}

impl Protocol for Events {
    const NAME: &'static str = "Gemini CLI";

    fn new(_turn: &Turn) -> Self {
        Self { speech: Speech::default(), error: String::new() }
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        match json::text(event, &["type"]) {
            Some("init") => {
                events.extend(json::some_text(event, &["session_id"]).map(|id| Event::Session(id.into())));
            }
            Some("message") => self.message(event, events),
            Some("tool_use") => {
                // Nothing but the call tells that the text after it is a new message.
                self.speech.part();
                events.push(Event::ToolCall(ToolCall {
                    id: json::shown(event, &["tool_id"]),
                    name: json::shown(event, &["tool_name"]),
                    input: json::at(event, &["parameters"]).map_or_else(|| "{}".to_owned(), Value::to_string),
                }));
            }
            Some("tool_result") => events.push(Event::ToolResult(tool_result(event))),
            // A remark: a run that ends with `success` may have had some.
            Some("error") => {
                if let Some(said) = json::some_text(event, &["message"]) {
                    said.clone_into(&mut self.error);
                    events.push(notice(Level::Warning, said));
                }
            }
            Some("result") => self.result(event, events),
            Some(_) | None => return false,
        }
        true
    }

    fn error(&self) -> &str {
        &self.error
    }
}

impl Events {
    fn message(&mut self, event: &Value, events: &mut Vec<Event>) {
        // The user's message is an echo of the prompt.
        if json::text(event, &["role"]) == Some("assistant") {
            self.speech.say(json::text(event, &["content"]).unwrap_or_default(), events);
        }
    }

    fn result(&self, event: &Value, events: &mut Vec<Event>) {
        if json::at(event, &["stats"]).is_some_and(Value::is_object) {
            events.push(Event::Usage(usage(event)));
        }
        let outcome = if json::text(event, &["status"]) == Some("success") {
            finished(None)
        } else {
            let said = json::some_text(event, &["error", "message"]).unwrap_or(&self.error);
            failed(Category::Unknown, "CLI failed", said)
        };
        events.push(Event::Done(outcome));
    }
}

fn tool_result(event: &Value) -> ToolResult {
    let output = json::some_text(event, &["output"]).map(String::from);
    ToolResult {
        id: json::shown(event, &["tool_id"]),
        output: output.unwrap_or_else(|| json::shown(event, &["error", "message"])),
        is_error: json::text(event, &["status"]) != Some("success"),
    }
}

/// The counts are totals of the run and of all its models. What the models thought is in `total_tokens` only.
fn usage(event: &Value) -> Usage {
    let tokens = |name: &str| json::count(event, &["stats", name]);
    let input = tokens("input_tokens");
    let spoken = tokens("output_tokens");
    let output = tokens("total_tokens").saturating_sub(input).max(spoken);
    Usage {
        scope: UsageScope::Run,
        input,
        cached_input: tokens("cached"),
        cache_write: 0,
        output,
        reasoning: output - spoken,
    }
}
