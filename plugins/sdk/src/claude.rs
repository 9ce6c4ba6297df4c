//! Owns the reading of Claude-like `stream-json`, which several CLIs print: `system`, `stream_event` (deltas), `assistant`
//! and `user` (whole messages) and `result`. How tokens are counted differs between them: see [`InputTokens`].

use serde_json::Value;

use crate::{
    Category, Event, Outcome, Speech, ToolCall, ToolResult, Usage, UsageScope, failed, finished,
    json::{self, content_text, count, items, shown, some_text, text},
};

/// What a CLI's `input_tokens` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputTokens {
    /// Everything that was sent.
    All,
    /// Only what neither came from a cache nor went into one.
    Uncached,
}

/// The state of one Claude-like stream.
#[derive(Debug)]
pub struct ClaudeStream {
    input_tokens: InputTokens,
    session: String,
    speech: Speech,
    /// Id of the message that is being told.
    message: String,
    /// Text, reasoning came as deltas since the last whole message, which repeats it.
    text_came: bool,
    reasoning_came: bool,
    error: String,
}

impl ClaudeStream {
    /// A stream that counts tokens in this way.
    pub fn new(input_tokens: InputTokens) -> Self {
        Self {
            input_tokens,
            session: String::new(),
            speech: Speech::default(),
            message: String::new(),
            text_came: false,
            reasoning_came: false,
            error: String::new(),
        }
    }

    /// What the CLI said on its error channel last; empty if nothing.
    pub fn error(&self) -> &str {
        &self.error
    }

    /// Reads one line's object and adds what it means; false if it is of no known kind.
    pub fn read(&mut self, line: &Value, events: &mut Vec<Event>) -> bool {
        let Some(kind) = text(line, &["type"]) else {
            return false;
        };
        // What a nested agent says is part of a tool call, not of the answer.
        let is_nested = some_text(line, &["parent_tool_use_id"]).is_some();
        match kind {
            "system" => self.system(line, events),
            "stream_event" | "assistant" | "user" if is_nested => {}
            "stream_event" => self.stream_event(line, events),
            "assistant" => self.assistant(line, events),
            "user" => self.user(line, events),
            "result" => self.result(line, events),
            _ => return false,
        }
        true
    }

    fn system(&mut self, line: &Value, events: &mut Vec<Event>) {
        if text(line, &["subtype"]) != Some("init") {
            return;
        }
        // A process that runs several turns says it again for each.
        if let Some(id) = some_text(line, &["session_id"])
            && id != self.session
        {
            id.clone_into(&mut self.session);
            events.push(Event::Session(id.into()));
        }
    }

    fn stream_event(&mut self, line: &Value, events: &mut Vec<Event>) {
        let Some(event) = json::at(line, &["event"]) else {
            return;
        };
        match text(event, &["type"]) {
            Some("message_start") => {
                self.begin_message(text(event, &["message", "id"]).unwrap_or_default());
                self.speech.part();
            }
            // Qwen begins a message within a response without a `message_start`: its blocks count from 0 again.
            Some("content_block_start") if count(event, &["index"]) == 0 => self.speech.part(),
            Some("content_block_delta") => self.delta(event, events),
            Some(_) | None => {}
        }
    }

    fn delta(&mut self, event: &Value, events: &mut Vec<Event>) {
        match text(event, &["delta", "type"]) {
            Some("text_delta") => {
                self.text_came = true;
                self.speech.say(text(event, &["delta", "text"]).unwrap_or_default(), events);
            }
            Some("thinking_delta") => {
                self.reasoning_came = true;
                reason(some_text(event, &["delta", "thinking"]), events);
            }
            // The pieces of a tool call's arguments come whole in the message.
            Some(_) | None => {}
        }
    }

    fn assistant(&mut self, line: &Value, events: &mut Vec<Event>) {
        let content = json::at(line, &["message", "content"]);
        // Claude tells an error of its provider as a message too.
        if json::at(line, &["error"]).is_some_and(|error| !error.is_null()) {
            self.error = content.and_then(content_text).unwrap_or_else(|| shown(line, &["error"]));
            return;
        }
        self.begin_message(text(line, &["message", "id"]).unwrap_or_default());
        if let Some(whole) = content.and_then(Value::as_str)
            && !self.text_came
        {
            self.speech.say(whole, events);
        }
        for block in items(line, &["message", "content"]) {
            match text(block, &["type"]) {
                Some("text") if !self.text_came => self.speech.say(text(block, &["text"]).unwrap_or_default(), events),
                Some("thinking") if !self.reasoning_came => reason(some_text(block, &["thinking"]), events),
                Some("tool_use") => {
                    self.speech.part();
                    events.push(Event::ToolCall(ToolCall {
                        id: shown(block, &["id"]),
                        name: shown(block, &["name"]),
                        input: json::at(block, &["input"]).map_or_else(|| "{}".to_owned(), Value::to_string),
                    }));
                }
                Some(_) | None => {}
            }
        }
        self.text_came = false;
        self.reasoning_came = false;
    }

    fn user(&mut self, line: &Value, events: &mut Vec<Event>) {
        for block in items(line, &["message", "content"]) {
            if text(block, &["type"]) == Some("tool_result") {
                self.speech.part();
                let content = json::at(block, &["content"]).and_then(content_text);
                events.push(Event::ToolResult(ToolResult {
                    id: shown(block, &["tool_use_id"]),
                    output: content.unwrap_or_else(|| shown(block, &["content"])),
                    is_error: json::is_true(block, &["is_error"]),
                }));
            }
        }
    }

    fn result(&mut self, line: &Value, events: &mut Vec<Event>) {
        if json::at(line, &["usage"]).is_some_and(Value::is_object) {
            events.push(Event::Usage(self.usage(line)));
        }
        events.push(Event::Done(outcome(line)));
    }

    fn usage(&self, line: &Value) -> Usage {
        let tokens = |name: &str| count(line, &["usage", name]);
        let cached_input = tokens("cache_read_input_tokens");
        let cache_write = tokens("cache_creation_input_tokens");
        let told = tokens("input_tokens");
        let input = match self.input_tokens {
            InputTokens::All => told,
            InputTokens::Uncached => told.saturating_add(cached_input).saturating_add(cache_write),
        };
        let output = tokens("output_tokens");
        Usage { scope: UsageScope::Run, input, cached_input, cache_write, output, reasoning: 0 }
    }

    /// A whole message without deltas may bring a new id; its blocks may also come one by one under the same.
    fn begin_message(&mut self, id: &str) {
        if self.message != id {
            id.clone_into(&mut self.message);
            if !self.text_came {
                self.speech.part();
            }
        }
    }
}

fn reason(thinking: Option<&str>, events: &mut Vec<Event>) {
    if let Some(thinking) = thinking {
        events.push(Event::Reasoning(thinking.into()));
    }
}

/// The verdict of a `result`. `subtype` says `success` for failures too: only `is_error` counts.
fn outcome(line: &Value) -> Outcome {
    if !json::is_true(line, &["is_error"]) {
        return finished(some_text(line, &["result"]).map(String::from));
    }
    let errors: Vec<&str> = items(line, &["errors"]).iter().filter_map(Value::as_str).collect();
    let said = some_text(line, &["result"]).or_else(|| some_text(line, &["error", "message"]));
    failed(Category::Unknown, "CLI failed", said.map_or_else(|| errors.join("\n"), String::from))
}
