//! The meaning of the events of `copilot --output-format json`. All except the last line, which is `result`, have their content in
//! `data`. There are no token counts.

use agentbay_plugin_sdk::classify::ErrorReport;
use agentbay_plugin_sdk::{
    AnswerText, BackgroundTasks, Category, Event, Failure, Level, Outcome, Protocol, ToolCall, ToolResult, Turn, Value,
    finished, json, notice,
};

use crate::plan;

/// Fields that contain text.
const WORDS: [&str; 3] = ["content", "deltaContent", "text"];

/// Maximum number of characters of an unknown name.
const KIND_CHARS: usize = 60;

/// The transcript of one run.
#[derive(Debug)]
pub struct Events {
    /// The session that Copilot starts or resumes.
    asked: Option<String>,
    /// The session that was emitted.
    session: Option<String>,
    answer_text: AnswerText,
    /// Text or reasoning arrived as deltas since the last whole message, which repeats it.
    text_came: bool,
    reasoning_came: bool,
    /// The last `session.error`.
    error: Option<Failure>,
    background: BackgroundTasks,
    /// The kind of the last unknown event with text; empty if there was none.
    unknown: String,
    is_done: bool,
}

impl Protocol for Events {
    const NAME: &'static str = "Copilot";
    const LOGIN_HINT: &'static str = crate::LOGIN_HINT;

    fn new(turn: &Turn) -> Self {
        // Anything else is the name of a session, or its prefix.
        let resumed = turn.session.as_deref().and_then(plan::uuid);
        let asked = plan::new_session(turn).or(resumed);
        Self {
            asked,
            session: None,
            answer_text: AnswerText::default(),
            text_came: false,
            reasoning_came: false,
            error: None,
            background: BackgroundTasks::default(),
            unknown: String::new(),
            is_done: false,
        }
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        let Some(kind) = json::text(event, &["type"]) else {
            return false;
        };
        if kind == "result" {
            self.result(event, events);
            return true;
        }
        let Some(data) = json::at(event, &["data"]).filter(|data| data.is_object()) else {
            return false;
        };
        // An unknown session ends the run before the first event.
        if let Some(asked) = self.asked.take() {
            self.session(&asked, events);
        }
        // The output of a subagent is part of its tool call, not of the answer.
        if json::non_empty_text(data, &["parentToolCallId"]).is_none() {
            self.event(kind, data, events);
        }
        true
    }

    fn error(&self) -> &str {
        self.error.as_ref().map_or("", |error| &error.detail)
    }

    fn unknown(&self) -> &str {
        &self.unknown
    }

    fn exited(&mut self, code: i32) -> Option<Outcome> {
        self.background.exited(code)
    }
}

impl Events {
    fn event(&mut self, kind: &str, data: &Value, events: &mut Vec<Event>) {
        match kind {
            // A message without its whole form reached the token limit: Copilot lets the model continue it.
            "assistant.message_start" if self.text_came => {}
            "assistant.message_start" => self.answer_text.end_message(),
            "assistant.message_delta" => {
                let words = self.words(kind, data, "deltaContent");
                self.text_came |= !words.is_empty();
                self.answer_text.push(words, events);
            }
            "assistant.message" => self.message(kind, data, events),
            "assistant.reasoning_delta" => {
                self.reasoning_came = true;
                reason(json::non_empty_text(data, &["deltaContent"]), events);
            }
            "assistant.reasoning" => self.reasoning(data, events),
            // The message broke off, and starts again.
            "assistant.turn_retry" => self.answer_text.restart_message(),
            "tool.execution_start" => self.call(data, events),
            "tool.execution_complete" => self.tool_result(data, events),
            "subagent.started" => self.background.started(json::id(data, &["toolCallId"])),
            "subagent.completed" | "subagent.failed" => self.background.finished(&json::id(data, &["toolCallId"])),
            "session.background_tasks_changed" => self.tasks(data),
            "session.error" => self.error = Some(failure(data, "message", "errorType")),
            "session.warning" => remark(Level::Warning, data, "message", events),
            "session.info" => remark(Level::Info, data, "message", events),
            "model.call_failure" => self.call_failure(data, events),
            "user.message" | "system.message" => {}
            _ if WORDS.iter().any(|field| json::non_empty_text(data, &[field]).is_some()) => {
                self.unknown = kind.chars().take(KIND_CHARS).collect();
            }
            _ => {}
        }
    }

    /// The text in a field, which every known version has.
    fn words<'a>(&mut self, kind: &str, data: &'a Value, field: &str) -> &'a str {
        let words = json::text(data, &[field]);
        if words.is_none() {
            kind.clone_into(&mut self.unknown);
        }
        words.unwrap_or_default()
    }

    /// The whole message. Without deltas it is the only event of the message.
    fn message(&mut self, kind: &str, data: &Value, events: &mut Vec<Event>) {
        if !std::mem::take(&mut self.text_came) {
            self.answer_text.end_message();
            let words = self.words(kind, data, "content");
            self.answer_text.push(words, events);
        }
        self.answer_text.end_message();
    }

    /// The reasoning event follows the message and repeats the deltas.
    fn reasoning(&mut self, data: &Value, events: &mut Vec<Event>) {
        if !std::mem::take(&mut self.reasoning_came) {
            reason(json::non_empty_text(data, &["content"]), events);
        }
    }

    /// Most of these events name no tasks.
    fn tasks(&mut self, data: &Value) {
        if json::at(data, &["tasks"]).is_some_and(Value::is_array) {
            self.background.set(json::items(data, &["tasks"]).iter().map(|task| json::id(task, &["id"])));
        }
    }

    fn call(&mut self, data: &Value, events: &mut Vec<Event>) {
        self.answer_text.end_message();
        events.push(Event::ToolCall(ToolCall {
            id: json::id(data, &["toolCallId"]),
            name: json::to_text(data, &["toolName"]),
            input: json::at(data, &["arguments"]).map_or_else(|| "{}".to_owned(), Value::to_string),
        }));
    }

    fn tool_result(&mut self, data: &Value, events: &mut Vec<Event>) {
        self.answer_text.end_message();
        let exit_code = json::integer(data, &["shellExecution", "exitCode"]).unwrap_or(0);
        let output = json::non_empty_text(data, &["result", "content"]).map(String::from);
        events.push(Event::ToolResult(ToolResult {
            id: json::id(data, &["toolCallId"]),
            output: output.unwrap_or_else(|| json::to_text(data, &["error", "message"])),
            is_error: !json::is_true(data, &["success"]) || exit_code != 0,
        }));
    }

    /// Copilot retries the model for a minute and more, which is useless once the quota is exhausted.
    fn call_failure(&mut self, data: &Value, events: &mut Vec<Event>) {
        remark(Level::Warning, data, "errorMessage", events);
        let failure = failure(data, "errorMessage", "errorCode");
        if failure.category == Category::Quota && !self.is_done {
            self.is_done = true;
            events.push(Event::Done(failure.into()));
        }
    }

    /// Emits a session once.
    fn session(&mut self, id: &str, events: &mut Vec<Event>) {
        if self.session.as_deref() != Some(id) {
            self.session = Some(id.to_owned());
            events.push(Event::Session(id.into()));
        }
    }

    /// The outcome. An earlier error does not matter if the run ends successfully.
    fn result(&mut self, event: &Value, events: &mut Vec<Event>) {
        if let Some(id) = json::non_empty_id(event, &["sessionId"]) {
            self.session(&id, events);
        }
        let reported = json::at(event, &["error"]).filter(|error| json::is_error(error));
        let is_good = json::integer(event, &["exitCode"]) == Some(0) && reported.is_none();
        let error =
            reported.map(|error| ErrorReport::new(&json::error_message(error)).failure()).or_else(|| self.error.take());
        let error = error.unwrap_or_else(|| ErrorReport::new("").failure());
        let verdict = self.background.turn_ended(if is_good { finished(None) } else { error.into() });
        if let Some(verdict) = verdict.filter(|_| !self.is_done) {
            self.is_done = true;
            events.push(Event::Done(verdict));
        }
    }
}

fn reason(text: Option<&str>, events: &mut Vec<Event>) {
    events.extend(text.map(|text| Event::Reasoning(text.into())));
}

fn remark(level: Level, data: &Value, field: &str, events: &mut Vec<Event>) {
    events.extend(json::non_empty_text(data, &[field]).map(|message| notice(level, message)));
}

fn failure(data: &Value, message: &str, code: &str) -> Failure {
    let message = json::at(data, &[message]).map(json::error_message).unwrap_or_default();
    let code = json::text(data, &[code]).unwrap_or_default();
    let status = json::integer(data, &["statusCode"]).and_then(|status| u64::try_from(status).ok());
    ErrorReport::new(&message).status(status).code(code).failure()
}
