//! Claude-like `stream-json`, which several CLIs print: `system`, `stream_event` (deltas), `assistant` and `user` (whole messages)
//! and `result`. A [`StreamFormat`] has the differences between the CLIs. `result.rs` reads the `result`, `possible_error.rs` errors that
//! are printed as text.

mod possible_error;
mod result;

use serde_json::Value;

use crate::{
    AnswerText, BackgroundTasks, Event, Level, Outcome, ToolCall, ToolResult, Usage, UsageScope, finished,
    json::{self, content_text, count, id, items, non_empty_id, non_empty_text, text, to_text},
    notice, usage_of,
};
use possible_error::PossibleError;

/// What a CLI's `input_tokens` includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputTokens {
    /// All input tokens.
    All,
    /// Only tokens neither read from a cache nor written to one.
    Uncached,
}

/// The differences between CLIs that print Claude-like events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamFormat {
    /// What the CLI's `input_tokens` includes.
    pub input_tokens: InputTokens,
    /// Prefix of a provider's error that the CLI prints as text of the assistant; empty if it does not. Such an error extends to the
    /// end of its message.
    pub error_prefix: &'static str,
    /// The scope of the usage in a `result`.
    pub usage_scope: UsageScope,
}

/// A prompt as a line of `stream-json` input. An empty block follows it: Claude Code searches the last block of a message for
/// commands (`/name`) and files (`@path`), and drops an empty one before it sends the message.
pub fn user_message(prompt: &str) -> String {
    // JavaScript readers take these two characters for line ends, even inside a string.
    let prompt = Value::String(prompt.into()).to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    let blocks = format!(r#"[{{"type":"text","text":{prompt}}},{{"type":"text","text":""}}]"#);
    format!(r#"{{"type":"user","message":{{"role":"user","content":{blocks}}}}}"#) + "\n"
}

/// Maximum number of characters of an unknown name.
const KIND_CHARS: usize = 60;

/// The reader of one Claude-like stream.
#[derive(Debug)]
pub struct ClaudeStream {
    format: StreamFormat,
    /// Text is not emitted: the answer is the one in the `result`.
    suppresses_text: bool,
    session: String,
    answer_text: AnswerText,
    possible_error: PossibleError,
    /// Id of the current message.
    message: String,
    /// Text or reasoning arrived as deltas since the last whole message, which repeats it.
    text_came: bool,
    reasoning_came: bool,
    /// The message has a block.
    block_came: bool,
    /// The message reached the token limit: the next one continues it.
    continues: bool,
    error: String,
    /// The CLI's code of that error.
    error_code: String,
    /// The kind of an unknown block of the assistant.
    unknown: String,
    background: BackgroundTasks,
    /// The tokens of turns that ended while background tasks ran.
    earlier: Option<Usage>,
}

impl ClaudeStream {
    /// A reader for this format.
    pub fn new(format: StreamFormat) -> Self {
        Self {
            format,
            suppresses_text: false,
            session: String::new(),
            answer_text: AnswerText::default(),
            possible_error: PossibleError::new(format.error_prefix),
            message: String::new(),
            text_came: false,
            reasoning_came: false,
            block_came: false,
            continues: false,
            error: String::new(),
            error_code: String::new(),
            unknown: String::new(),
            background: BackgroundTasks::default(),
            earlier: None,
        }
    }

    /// Emits no text, so that the answer in the `result` counts. Text besides an answer that follows a schema would make it invalid
    /// JSON.
    #[must_use]
    pub fn suppress_text(mut self, suppresses_text: bool) -> Self {
        self.suppresses_text = suppresses_text;
        self
    }

    /// The last text from the CLI's error channel; empty if there is none.
    pub fn error(&self) -> &str {
        &self.error
    }

    /// The kind of an unknown block of the assistant; empty if there is none.
    pub fn unknown(&self) -> &str {
        &self.unknown
    }

    /// The outcome of a process that exited with this code, if it had reported the end of its turn while background tasks ran.
    pub fn exited(&mut self, code: i32) -> Option<Outcome> {
        self.background.exited(code)
    }

    /// Reads one object and adds its events; false if its kind is unknown.
    pub fn read(&mut self, line: &Value, events: &mut Vec<Event>) -> bool {
        let Some(kind) = text(line, &["type"]) else {
            return false;
        };
        // The output of a nested agent is part of a tool call, not of the answer.
        let is_nested = non_empty_text(line, &["parent_tool_use_id"]).is_some();
        match kind {
            "system" => self.system(line, events),
            "stream_event" | "assistant" | "user" if is_nested => {}
            "stream_event" => self.stream_event(line, events),
            "assistant" => self.assistant(line, events),
            "user" => self.user(line, events),
            "result" => self.result(line, events),
            // The format of other CLIs with similar events.
            "turn.started" => {}
            "content" => self.push_text(
                &content_text(json::at(line, &["content"]).unwrap_or(&Value::Null)).unwrap_or_default(),
                events,
            ),
            "turn.completed" => {
                events.extend(usage_of(line, self.format.usage_scope).map(Event::Usage));
                events.push(Event::Done(finished(None)));
            }
            _ => return false,
        }
        true
    }

    fn system(&mut self, line: &Value, events: &mut Vec<Event>) {
        match text(line, &["subtype"]) {
            // Qwen Code uses the second name in its one-shot JSON mode.
            Some("init" | "session_start") => self.session(line, events),
            // Claude Code retries the provider. A message that was sent in part starts again.
            Some("api_retry") => {
                if self.text_came {
                    self.answer_text.restart_message();
                    self.text_came = false;
                }
                // The final error, if the retries fail.
                self.error = retry_notice(line);
                events.push(notice(Level::Warning, self.error.as_str()));
            }
            // Qwen Code retries in the middle of a message, or because it rejects a whole one. With `preserveText` the model
            // continues where the message broke off.
            Some("retry") => {
                if !json::is_true(line, &["data", "preserveText"]) {
                    self.answer_text.restart_message();
                }
                events.push(notice(Level::Warning, "the CLI asks its provider again"));
            }
            Some("task_started") => self.background.started(task(line)),
            Some("task_notification" | "task_updated" | "task_progress") if is_over(line) => {
                self.background.finished(&task(line));
            }
            Some("background_tasks_changed") if json::at(line, &["tasks"]).is_some_and(Value::is_array) => {
                self.background.set(items(line, &["tasks"]).iter().map(task));
            }
            Some(_) | None => {}
        }
    }

    fn session(&mut self, line: &Value, events: &mut Vec<Event>) {
        // A process that runs several turns repeats it for each.
        if let Some(id) = non_empty_id(line, &["session_id"]).filter(|id| *id != self.session) {
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
                if !std::mem::take(&mut self.continues) {
                    self.end_message(events);
                }
            }
            Some("message_delta") => self.continues = text(event, &["delta", "stop_reason"]) == Some("max_tokens"),
            // Qwen starts a message inside a response without `message_start`: its block index restarts at 0.
            Some("content_block_start") => {
                if std::mem::replace(&mut self.block_came, true) && count(event, &["index"]) == 0 {
                    self.end_message(events);
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
                self.push_text(text(event, &["delta", "text"]).unwrap_or_default(), events);
            }
            Some("thinking_delta") => {
                self.reasoning_came = true;
                reason(non_empty_text(event, &["delta", "thinking"]), events);
            }
            // The whole message has the arguments of a tool call.
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
            self.push_text(whole, events);
        }
        // A single block may come without a list.
        let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
        for block in blocks {
            match text(block, &["type"]) {
                Some("text" | "output_text") if !self.text_came => {
                    self.push_text(text(block, &["text"]).unwrap_or_default(), events)
                }
                Some("thinking") if !self.reasoning_came => reason(non_empty_text(block, &["thinking"]), events),
                Some("tool_use") => {
                    self.end_message(events);
                    events.push(Event::ToolCall(ToolCall {
                        id: id(block, &["id"]),
                        name: to_text(block, &["name"]),
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

    /// Claude prints a provider's error as a message too, and its own texts under a synthetic model.
    fn is_error(&mut self, line: &Value) -> bool {
        let code = json::at(line, &["error"]).filter(|error| json::is_error(error));
        if code.is_none() && text(line, &["message", "model"]) != Some("<synthetic>") {
            return false;
        }
        self.error_code = code.map(json::error_message).unwrap_or_default();
        let content = json::at(line, &["message", "content"]);
        self.error = content.and_then(content_text).unwrap_or_else(|| self.error_code.clone());
        true
    }

    fn user(&mut self, line: &Value, events: &mut Vec<Event>) {
        for block in items(line, &["message", "content"]) {
            if text(block, &["type"]) == Some("tool_result") {
                self.end_message(events);
                let content = json::at(block, &["content"]).and_then(content_text);
                events.push(Event::ToolResult(ToolResult {
                    id: id(block, &["tool_use_id"]),
                    output: content.unwrap_or_else(|| to_text(block, &["content"])),
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
        if let Some(failure) = self.possible_error.failure(line) {
            outcome = failure.into();
        }
        if outcome.failure.is_none() {
            self.release(events);
        }
        for denial in items(line, &["permission_denials"]) {
            events
                .push(notice(Level::Warning, format!("the tool {} was not allowed", to_text(denial, &["tool_name"]))));
        }
        if json::at(line, &["usage"]).is_some_and(Value::is_object) {
            let reported = result::usage(line, self.format);
            // The counts of each turn start at 0, unless they are the session's.
            let earlier = self.earlier.filter(|_| self.format.usage_scope != UsageScope::Thread);
            let usage = earlier.map_or(reported, |earlier| reported.plus(earlier));
            self.earlier = Some(usage);
            events.push(Event::Usage(usage));
        }
        match self.background.turn_ended(outcome) {
            Some(outcome) => events.push(Event::Done(outcome)),
            // A new message follows.
            None => self.end_message(events),
        }
    }

    /// A whole message without deltas may have a new id; its blocks may also arrive one by one under the same id.
    fn begin_message(&mut self, id: &str) {
        if self.message != id {
            id.clone_into(&mut self.message);
            if !self.text_came && !self.continues {
                self.answer_text.end_message();
            }
        }
    }

    fn push_text(&mut self, text: &str, events: &mut Vec<Event>) {
        if self.suppresses_text {
            return;
        }
        self.release(events);
        let text = self.possible_error.hold(text);
        self.answer_text.push(text, events);
    }

    fn end_message(&mut self, events: &mut Vec<Event>) {
        self.release(events);
        self.answer_text.end_message();
    }

    /// Emits the held-back text: something follows, so it is not an error.
    fn release(&mut self, events: &mut Vec<Event>) {
        let held = self.possible_error.release();
        self.answer_text.push(&held, events);
    }
}

/// The id of a background task.
fn task(line: &Value) -> String {
    let named = ["task_id", "id", "tool_use_id"].iter().find_map(|name| non_empty_id(line, &[name]));
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
        ["attempt", "max_retries", "error", "error_status"].map(|name| to_text(line, &[name]));
    format!("the CLI asks its provider again ({attempt} of {most}): {error} {status}").trim_end().to_owned()
}
