//! Owns the reading of Claude-like `stream-json`, which several CLIs print: `system`, `stream_event` (deltas), `assistant`
//! and `user` (whole messages) and `result`. How the CLIs differ in it is a [`Dialect`]. What a `result` says about the end
//! is in `result.rs`, errors that are told as text in `error_text.rs`.

mod error_text;
mod result;

use serde_json::Value;

use crate::{
    Event, Level, Speech, ToolCall, ToolResult, UsageScope,
    json::{self, content_text, count, items, shown, some_text, text},
    notice,
};
use error_text::ErrorText;

/// What a CLI's `input_tokens` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputTokens {
    /// Everything that was sent.
    All,
    /// Only what neither came from a cache nor went into one.
    Uncached,
}

/// What differs from one CLI that prints Claude-like events to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dialect {
    /// What the CLI's `input_tokens` holds.
    pub input_tokens: InputTokens,
    /// How an error of the provider begins which the CLI prints as if the assistant had said it; empty if it does not. Such
    /// an error reaches to the end of its message.
    pub error_text: &'static str,
    /// What the usage of a `result` counts.
    pub usage_scope: UsageScope,
}

/// A prompt as a line of `stream-json` input. An empty block stands behind it: Claude Code looks for commands (`/name`) and
/// files (`@path`) in the last block of a message, and drops an empty one before it sends the message.
pub fn user_message(prompt: &str) -> String {
    // Readers in JavaScript take these two for line ends, also where they stand in a string.
    let prompt = Value::String(prompt.into()).to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    let blocks = format!(r#"[{{"type":"text","text":{prompt}}},{{"type":"text","text":""}}]"#);
    format!(r#"{{"type":"user","message":{{"role":"user","content":{blocks}}}}}"#) + "\n"
}

/// The state of one Claude-like stream.
#[derive(Debug)]
pub struct ClaudeStream {
    dialect: Dialect,
    /// Text is not passed on: the answer is the one that the `result` holds.
    is_silent: bool,
    session: String,
    speech: Speech,
    error_text: ErrorText,
    /// Id of the message that is being told.
    message: String,
    /// Text, reasoning came as deltas since the last whole message, which repeats it.
    text_came: bool,
    reasoning_came: bool,
    /// The message has a block already.
    block_came: bool,
    /// The message was cut off at the limit of tokens: the next one goes on where it ended.
    goes_on: bool,
    error: String,
    /// The CLI's name of that error.
    error_code: String,
}

impl ClaudeStream {
    /// A stream of this dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            is_silent: false,
            session: String::new(),
            speech: Speech::default(),
            error_text: ErrorText::new(dialect.error_text),
            message: String::new(),
            text_came: false,
            reasoning_came: false,
            block_came: false,
            goes_on: false,
            error: String::new(),
            error_code: String::new(),
        }
    }

    /// Passes no text on, so that the answer which the `result` holds counts: what the model says beside an answer that
    /// follows a schema would make it no JSON.
    #[must_use]
    pub fn silent(mut self, is_silent: bool) -> Self {
        self.is_silent = is_silent;
        self
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
        match text(line, &["subtype"]) {
            // Qwen Code's other name for it stands in its one-shot JSON mode.
            Some("init" | "session_start") => self.session(line, events),
            // Claude Code asks its provider again. A message that was told in part is told anew.
            Some("api_retry") => {
                if self.text_came {
                    self.speech.again();
                    self.text_came = false;
                }
                // The last word, if it does not get over it.
                self.error = retry_notice(line);
                events.push(notice(Level::Warning, self.error.as_str()));
            }
            // Qwen Code asks again, in the middle of a message or because it did not like a whole one. Or it has the model go on
            // where the message broke off.
            Some("retry") => {
                if !json::is_true(line, &["data", "preserveText"]) {
                    self.speech.again();
                }
                events.push(notice(Level::Warning, "the CLI asks its provider again"));
            }
            Some(_) | None => {}
        }
    }

    fn session(&mut self, line: &Value, events: &mut Vec<Event>) {
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
                self.error.clear();
                self.block_came = false;
                self.begin_message(text(event, &["message", "id"]).unwrap_or_default());
                if !std::mem::take(&mut self.goes_on) {
                    self.part(events);
                }
            }
            Some("message_delta") => self.goes_on = text(event, &["delta", "stop_reason"]) == Some("max_tokens"),
            // Qwen begins a message within a response without a `message_start`: its blocks count from 0 again.
            Some("content_block_start") => {
                if std::mem::replace(&mut self.block_came, true) && count(event, &["index"]) == 0 {
                    self.part(events);
                }
            }
            Some("content_block_delta") => self.delta(event, events),
            Some(_) | None => {}
        }
    }

    fn delta(&mut self, event: &Value, events: &mut Vec<Event>) {
        match text(event, &["delta", "type"]) {
            Some("text_delta") => {
                self.text_came = true;
                self.say(text(event, &["delta", "text"]).unwrap_or_default(), events);
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
        if self.is_error(line) {
            return;
        }
        self.begin_message(text(line, &["message", "id"]).unwrap_or_default());
        if let Some(whole) = text(line, &["message", "content"])
            && !self.text_came
        {
            self.say(whole, events);
        }
        for block in items(line, &["message", "content"]) {
            match text(block, &["type"]) {
                Some("text") if !self.text_came => self.say(text(block, &["text"]).unwrap_or_default(), events),
                Some("thinking") if !self.reasoning_came => reason(some_text(block, &["thinking"]), events),
                Some("tool_use") => {
                    self.part(events);
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

    /// Claude tells an error of its provider as a message too, and other words of its own under a model of no provider.
    fn is_error(&mut self, line: &Value) -> bool {
        let code = json::at(line, &["error"]).filter(|error| !error.is_null());
        if code.is_none() && text(line, &["message", "model"]) != Some("<synthetic>") {
            return false;
        }
        self.error_code = shown(line, &["error"]);
        let content = json::at(line, &["message", "content"]);
        self.error = content.and_then(content_text).unwrap_or_else(|| self.error_code.clone());
        true
    }

    fn user(&mut self, line: &Value, events: &mut Vec<Event>) {
        for block in items(line, &["message", "content"]) {
            if text(block, &["type"]) == Some("tool_result") {
                self.part(events);
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
        let mut outcome = result::outcome(line, &self.error_code);
        if let Some(failure) = self.error_text.failure(line) {
            outcome = failure.into();
        }
        if outcome.failure.is_none() {
            self.release(events);
        }
        for denial in items(line, &["permission_denials"]) {
            events.push(notice(Level::Warning, format!("the tool {} was not allowed", shown(denial, &["tool_name"]))));
        }
        if json::at(line, &["usage"]).is_some_and(Value::is_object) {
            events.push(Event::Usage(result::usage(line, self.dialect)));
        }
        events.push(Event::Done(outcome));
    }

    /// A whole message without deltas may bring a new id; its blocks may also come one by one under the same.
    fn begin_message(&mut self, id: &str) {
        if self.message != id {
            id.clone_into(&mut self.message);
            if !self.text_came && !self.goes_on {
                self.speech.part();
            }
        }
    }

    fn say(&mut self, text: &str, events: &mut Vec<Event>) {
        if self.is_silent {
            return;
        }
        self.release(events);
        let said = self.error_text.hold(text);
        self.speech.say(said, events);
    }

    fn part(&mut self, events: &mut Vec<Event>) {
        self.release(events);
        self.speech.part();
    }

    /// What was held back as an error is none, for something follows it.
    fn release(&mut self, events: &mut Vec<Event>) {
        let held = self.error_text.release();
        self.speech.say(&held, events);
    }
}

fn reason(thinking: Option<&str>, events: &mut Vec<Event>) {
    if let Some(thinking) = thinking {
        events.push(Event::Reasoning(thinking.into()));
    }
}

fn retry_notice(line: &Value) -> String {
    let [attempt, most, error, status] =
        ["attempt", "max_retries", "error", "error_status"].map(|name| shown(line, &[name]));
    format!("the CLI asks its provider again ({attempt} of {most}): {error} {status}").trim_end().to_owned()
}
