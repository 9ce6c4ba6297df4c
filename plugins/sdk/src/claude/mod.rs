//! Owns the reading of Claude-like `stream-json`, which several CLIs print: `system`, `stream_event` (deltas), `assistant`
//! and `user` (whole messages) and `result`. How the CLIs differ in it is a [`Dialect`]. What a `result` says about the end
//! is in `result.rs`, errors that are told as text in `error_text.rs`.

mod error_text;
mod result;

use serde_json::Value;

use crate::{
    Background, Event, Level, Outcome, Speech, ToolCall, ToolResult, Usage, UsageScope, finished,
    json::{self, content_text, count, id, items, shown, some_id, some_text, text},
    notice, usage_beside,
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

/// How much of an unknown name is shown.
const KIND_CHARS: usize = 60;

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
    /// The kind of a block of the assistant that is not known.
    unknown: String,
    background: Background,
    /// The tokens of the turns that ended while helpers worked on.
    earlier: Option<Usage>,
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
            unknown: String::new(),
            background: Background::default(),
            earlier: None,
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

    /// The kind of a block of the assistant that is not known; empty if there was none.
    pub fn unknown(&self) -> &str {
        &self.unknown
    }

    /// The verdict on a process that ended by itself with this code, if it had said that its turn is over while helpers worked
    /// on.
    pub fn exited(&mut self, code: i32) -> Option<Outcome> {
        self.background.exited(code)
    }

    /// Reads one event and adds what it means; false if it is of no known kind.
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
            // The form of other CLIs that print the same words.
            "turn.started" => {}
            "content" => self
                .say(&content_text(json::at(line, &["content"]).unwrap_or(&Value::Null)).unwrap_or_default(), events),
            "turn.completed" => {
                events.extend(usage_beside(line, self.dialect.usage_scope).map(Event::Usage));
                events.push(Event::Done(finished(None)));
            }
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
            Some("task_started") => self.background.began(task(line)),
            Some("task_notification" | "task_updated" | "task_progress") if is_over(line) => {
                self.background.ended(&task(line));
            }
            Some("background_tasks_changed") if json::at(line, &["tasks"]).is_some_and(Value::is_array) => {
                self.background.are(items(line, &["tasks"]).iter().map(task));
            }
            Some(_) | None => {}
        }
    }

    fn session(&mut self, line: &Value, events: &mut Vec<Event>) {
        // A process that runs several turns says it again for each.
        if let Some(id) = some_id(line, &["session_id"]).filter(|id| *id != self.session) {
            self.session.clone_from(&id);
            events.push(Event::Session(id));
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
        let content = json::at(line, &["message", "content"]).unwrap_or(&Value::Null);
        if let Some(whole) = content.as_str().filter(|_| !self.text_came) {
            self.say(whole, events);
        }
        // One block may come without its list.
        let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
        for block in blocks {
            match text(block, &["type"]) {
                Some("text" | "output_text") if !self.text_came => {
                    self.say(text(block, &["text"]).unwrap_or_default(), events)
                }
                Some("thinking") if !self.reasoning_came => reason(some_text(block, &["thinking"]), events),
                Some("tool_use") => {
                    self.part(events);
                    events.push(Event::ToolCall(ToolCall {
                        id: id(block, &["id"]),
                        name: shown(block, &["name"]),
                        input: json::at(block, &["input"]).map_or_else(|| "{}".to_owned(), Value::to_string),
                    }));
                }
                Some("text" | "output_text" | "thinking" | "redacted_thinking") | None => {}
                Some(other) => self.unknown = other.chars().take(KIND_CHARS).collect(),
            }
            let is_worded = text(block, &["text"]).or(text(block, &["thinking"])).is_some() || block.is_string();
            if json::at(block, &["type"]).is_some_and(|kind| kind == "text" || !kind.is_string()) && !is_worded {
                self.unknown = "text".into();
            }
        }
        self.text_came = false;
        self.reasoning_came = false;
    }

    /// Claude tells an error of its provider as a message too, and other words of its own under a model of no provider.
    fn is_error(&mut self, line: &Value) -> bool {
        let code = json::at(line, &["error"]).filter(|error| json::is_error(error));
        if code.is_none() && text(line, &["message", "model"]) != Some("<synthetic>") {
            return false;
        }
        self.error_code = code.map(json::error_words).unwrap_or_default();
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
                    id: id(block, &["tool_use_id"]),
                    output: content.unwrap_or_else(|| shown(block, &["content"])),
                    is_error: json::is_true(block, &["is_error"]),
                }));
            }
        }
    }

    fn result(&mut self, line: &Value, events: &mut Vec<Event>) {
        let mut outcome = result::outcome(line, &self.error_code);
        if json::at(line, &["result"]).is_some_and(|result| !result.is_null() && content_text(result).is_none()) {
            self.unknown = "result".into();
        }
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
            let told = result::usage(line, self.dialect);
            // Each turn of a run counts from 0, unless the counts are the session's.
            let earlier = self.earlier.filter(|_| self.dialect.usage_scope != UsageScope::Thread);
            let usage = earlier.map_or(told, |earlier| told.plus(earlier));
            self.earlier = Some(usage);
            events.push(Event::Usage(usage));
        }
        match self.background.over(outcome) {
            Some(outcome) => events.push(Event::Done(outcome)),
            // What comes next belongs to a new message.
            None => self.part(events),
        }
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

/// The id of a helper in the background.
fn task(line: &Value) -> String {
    let named = ["task_id", "id", "tool_use_id"].iter().find_map(|name| some_id(line, &[name]));
    named.unwrap_or_else(|| line.as_str().map_or_else(|| line.to_string(), String::from))
}

fn is_over(line: &Value) -> bool {
    let status = text(line, &["status"]).or_else(|| text(line, &["patch", "status"]));
    matches!(status, Some("completed" | "failed" | "killed" | "stopped" | "cancelled" | "error"))
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
