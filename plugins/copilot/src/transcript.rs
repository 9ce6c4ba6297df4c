//! Owns the meaning of the events of `copilot --output-format json`. All but the last line, which is `result`, carry what
//! they say in `data`. Tokens are not told.

use agentbay_plugin_sdk::classify::Report;
use agentbay_plugin_sdk::{
    Category, Event, Failure, Level, Protocol, Speech, ToolCall, ToolResult, Turn, Value, finished, json, notice,
};

use crate::plan;

/// The state of one run's events.
#[derive(Debug)]
pub struct Events {
    /// The session that Copilot was told to begin or to resume.
    asked: Option<String>,
    /// The session that was passed on.
    session: Option<String>,
    speech: Speech,
    /// Text, reasoning came as deltas since the last whole message, which repeats it.
    text_came: bool,
    reasoning_came: bool,
    /// What `session.error` said last.
    error: Option<Failure>,
    is_done: bool,
}

impl Protocol for Events {
    const NAME: &'static str = "Copilot";
    const LOGIN_HINT: &'static str = crate::LOGIN_HINT;

    fn new(turn: &Turn) -> Self {
        // What is no id is the name of one, or its beginning.
        let resumed = turn.session.as_deref().and_then(plan::uuid);
        let asked = plan::new_session(turn).or(resumed);
        Self {
            asked,
            session: None,
            speech: Speech::default(),
            text_came: false,
            reasoning_came: false,
            error: None,
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
        // What an agent does that was called for help is part of that call, not of the answer.
        if json::some_text(data, &["parentToolCallId"]).is_none() {
            self.event(kind, data, events);
        }
        true
    }

    fn error(&self) -> &str {
        self.error.as_ref().map_or("", |error| &error.detail)
    }
}

impl Events {
    fn event(&mut self, kind: &str, data: &Value, events: &mut Vec<Event>) {
        match kind {
            // A message that was told in part only was cut off at the limit of tokens: Copilot has the model go on with it.
            "assistant.message_start" if self.text_came => {}
            "assistant.message_start" => self.speech.part(),
            "assistant.message_delta" => {
                self.text_came = true;
                self.speech.say(json::text(data, &["deltaContent"]).unwrap_or_default(), events);
            }
            "assistant.message" => self.message(data, events),
            "assistant.reasoning_delta" => {
                self.reasoning_came = true;
                reason(json::some_text(data, &["deltaContent"]), events);
            }
            "assistant.reasoning" => self.reasoning(data, events),
            // The message broke off, and is told from its beginning.
            "assistant.turn_retry" => self.speech.again(),
            "tool.execution_start" => self.call(data, events),
            "tool.execution_complete" => self.tool_result(data, events),
            "session.error" => self.error = Some(failure(data, "message", "errorType")),
            "session.warning" => remark(Level::Warning, data, "message", events),
            "session.info" => remark(Level::Info, data, "message", events),
            "model.call_failure" => self.call_failure(data, events),
            _ => {}
        }
    }

    /// The whole message. Without deltas it is the first that is heard of it.
    fn message(&mut self, data: &Value, events: &mut Vec<Event>) {
        if !std::mem::take(&mut self.text_came) {
            self.speech.part();
            self.speech.say(json::text(data, &["content"]).unwrap_or_default(), events);
        }
        self.speech.part();
    }

    /// It comes behind the message, and repeats the deltas.
    fn reasoning(&mut self, data: &Value, events: &mut Vec<Event>) {
        if !std::mem::take(&mut self.reasoning_came) {
            reason(json::some_text(data, &["content"]), events);
        }
    }

    fn call(&mut self, data: &Value, events: &mut Vec<Event>) {
        self.speech.part();
        events.push(Event::ToolCall(ToolCall {
            id: json::shown(data, &["toolCallId"]),
            name: json::shown(data, &["toolName"]),
            input: json::at(data, &["arguments"]).map_or_else(|| "{}".to_owned(), Value::to_string),
        }));
    }

    fn tool_result(&mut self, data: &Value, events: &mut Vec<Event>) {
        self.speech.part();
        let exit_code = json::at(data, &["shellExecution", "exitCode"]).and_then(Value::as_i64).unwrap_or(0);
        let output = json::some_text(data, &["result", "content"]).map(String::from);
        events.push(Event::ToolResult(ToolResult {
            id: json::shown(data, &["toolCallId"]),
            output: output.unwrap_or_else(|| json::shown(data, &["error", "message"])),
            is_error: !json::is_true(data, &["success"]) || exit_code != 0,
        }));
    }

    /// Copilot asks the model again, for a minute and more. There is no point in that when the allowance is used up.
    fn call_failure(&mut self, data: &Value, events: &mut Vec<Event>) {
        remark(Level::Warning, data, "errorMessage", events);
        let failure = failure(data, "errorMessage", "errorCode");
        if failure.category == Category::Quota && !self.is_done {
            self.is_done = true;
            events.push(Event::Done(failure.into()));
        }
    }

    /// Passes a session on, once.
    fn session(&mut self, id: &str, events: &mut Vec<Event>) {
        if self.session.as_deref() != Some(id) {
            self.session = Some(id.to_owned());
            events.push(Event::Session(id.into()));
        }
    }

    /// An error that was told before a good end was overcome.
    fn result(&mut self, event: &Value, events: &mut Vec<Event>) {
        if let Some(id) = json::some_text(event, &["sessionId"]) {
            self.session(id, events);
        }
        let is_good = json::at(event, &["exitCode"]).and_then(Value::as_i64) == Some(0);
        let error = self.error.take().unwrap_or_else(|| Report::new("").failure());
        if !std::mem::replace(&mut self.is_done, true) {
            events.push(Event::Done(if is_good { finished(None) } else { error.into() }));
        }
    }
}

fn reason(text: Option<&str>, events: &mut Vec<Event>) {
    events.extend(text.map(|text| Event::Reasoning(text.into())));
}

fn remark(level: Level, data: &Value, field: &str, events: &mut Vec<Event>) {
    events.extend(json::some_text(data, &[field]).map(|said| notice(level, said)));
}

fn failure(data: &Value, said: &str, code: &str) -> Failure {
    let text = |field: &str| json::text(data, &[field]).unwrap_or_default();
    let status = json::at(data, &["statusCode"]).and_then(Value::as_u64);
    Report::new(text(said)).status(status).code(text(code)).failure()
}
