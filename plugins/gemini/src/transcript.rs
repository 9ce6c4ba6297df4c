//! The meaning of the events of Gemini CLI's `stream-json`, and of the one object of its one-shot JSON mode.

use agentbay_plugin_sdk::{
    AnswerText, Category, Event, Level, Outcome, Protocol, Stop, ToolCall, ToolResult, Turn, Usage, UsageScope, Value,
    classify, finished, json, notice,
};

use crate::attempts::Attempt;
use crate::{LOGIN_HINT, plan};

/// The CLI's message when it stops a model that repeats itself, in a run that it reports as a success.
const LOOP_DETECTED: &str = "Loop detected";

/// The transcript of one run.
#[derive(Debug)]
pub struct Events {
    answer_text: AnswerText,
    error: String,
    /// The unknown part of the last message that may be the assistant's; empty if there was none.
    unknown: &'static str,
    is_stopped: bool,
    is_done: bool,
}

impl Protocol for Events {
    const NAME: &'static str = "Gemini CLI";
    const LOGIN_HINT: &'static str = LOGIN_HINT;
    const EXIT_CODES: &'static [(i32, Category, &'static str)] = &[
        (41, Category::Authentication, "Gemini CLI is not logged in"),
        (42, Category::Validation, "Gemini CLI does not take what it was asked"),
        (44, Category::Configuration, "The sandbox of Gemini CLI does not work"),
        (52, Category::Configuration, "The settings of Gemini CLI are wrong"),
        (55, Category::Configuration, "Gemini CLI does not trust the folder it was started in"),
    ];

    fn new(_turn: &Turn) -> Self {
        Self {
            answer_text: AnswerText::default(),
            error: String::new(),
            unknown: "",
            is_stopped: false,
            is_done: false,
        }
    }

    fn input(turn: &Turn) -> String {
        plan::input(turn)
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        match json::text(event, &["type"]) {
            Some("init") => session(event, events),
            Some("message") => self.message(event, events),
            Some("tool_use") => {
                // Only the call shows that the text after it is a new message.
                self.answer_text.end_message();
                events.push(Event::ToolCall(ToolCall {
                    id: json::id(event, &["tool_id"]),
                    name: json::to_text(event, &["tool_name"]),
                    input: json::at(event, &["parameters"]).map_or_else(|| "{}".to_owned(), Value::to_string),
                }));
            }
            Some("tool_result") => events.push(Event::ToolResult(tool_result(event))),
            Some("error") => self.remark(event, events),
            Some("result") => self.result(event, events),
            None => return self.one_shot(event, events),
            Some(_) => return false,
        }
        true
    }

    fn read_stderr(&mut self, lines: &str, events: &mut Vec<Event>) {
        for attempt in lines.split('\n').filter_map(Attempt::of) {
            events.push(notice(Level::Warning, attempt.remark()));
            if let Some(failure) = attempt.verdict() {
                self.done(failure.into(), events);
            }
        }
    }

    fn error(&self) -> &str {
        &self.error
    }

    fn unknown(&self) -> &str {
        self.unknown
    }
}

impl Events {
    fn message(&mut self, event: &Value, events: &mut Vec<Event>) {
        // The user's message is an echo of the prompt.
        match json::text(event, &["role"]) {
            Some("assistant" | "model") => match json::at(event, &["content"]).and_then(json::content_text) {
                Some(content) => self.answer_text.push(&content, events),
                None => self.unknown = "content",
            },
            Some("user" | "system") => {}
            Some(_) | None => self.unknown = "role",
        }
    }

    /// An error. A run that ends with `success` may have some.
    fn remark(&mut self, event: &Value, events: &mut Vec<Event>) {
        let message = json::error_message(event);
        if !message.is_empty() {
            self.is_stopped |= message.starts_with(LOOP_DETECTED);
            self.error.clone_from(&message);
            events.push(notice(Level::Warning, message));
        }
    }

    fn result(&mut self, event: &Value, events: &mut Vec<Event>) {
        if json::at(event, &["stats"]).is_some_and(Value::is_object) {
            events.push(Event::Usage(usage(event)));
        }
        let error = json::at(event, &["error"]).filter(|error| json::is_error(error)).map(json::error_message);
        let outcome = if json::text(event, &["status"]) == Some("success") && error.is_none() {
            // The CLI stopped the model, so the answer is incomplete.
            let stop = if self.is_stopped { Stop::MaxTurns } else { Stop::EndTurn };
            Outcome { stop, ..finished(None) }
        } else {
            classify::failure(error.as_deref().unwrap_or(&self.error)).into()
        };
        self.done(outcome, events);
    }

    /// The output of `--output-format json`: an answer or an error, with the counts of each model.
    fn one_shot(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        let answer = json::text(event, &["response"]);
        let error = json::at(event, &["error"]).filter(|error| json::is_error(error));
        let outcome = match (answer, error) {
            (_, Some(error)) => classify::failure(&json::error_message(error)).into(),
            (Some(answer), None) => finished(Some(answer.into())),
            (None, None) => return false,
        };
        session(event, events);
        if let Some(models) = json::at(event, &["stats", "models"]).and_then(Value::as_object) {
            events.push(Event::Usage(models.values().map(model_usage).fold(NO_USAGE, added)));
        }
        self.done(outcome, events);
        true
    }

    fn done(&mut self, outcome: Outcome, events: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.is_done, true) {
            events.push(Event::Done(outcome));
        }
    }
}

fn session(event: &Value, events: &mut Vec<Event>) {
    events.extend(json::non_empty_id(event, &["session_id"]).map(Event::Session));
}

fn tool_result(event: &Value) -> ToolResult {
    let output = json::non_empty_text(event, &["output"]).map(String::from);
    ToolResult {
        id: json::id(event, &["tool_id"]),
        output: output.unwrap_or_else(|| json::to_text(event, &["error", "message"])),
        is_error: json::text(event, &["status"]) != Some("success"),
    }
}

/// The counts are totals of the run and of all its models. Only `total_tokens` includes reasoning.
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

const NO_USAGE: Usage =
    Usage { scope: UsageScope::Run, input: 0, cached_input: 0, cache_write: 0, output: 0, reasoning: 0 };

/// The counts of one model in the one-shot mode, under other names.
fn model_usage(model: &Value) -> Usage {
    let tokens = |name: &str| json::count(model, &["tokens", name]);
    let reasoning = tokens("thoughts");
    let input = tokens("prompt");
    let output = tokens("candidates").saturating_add(reasoning);
    Usage { input, cached_input: tokens("cached"), output, reasoning, ..NO_USAGE }
}

fn added(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        cached_input: one.cached_input.saturating_add(other.cached_input),
        output: one.output.saturating_add(other.output),
        reasoning: one.reasoning.saturating_add(other.reasoning),
        ..NO_USAGE
    }
}
