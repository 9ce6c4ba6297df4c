//! The meaning of the events of `opencode run --format json`, and of the errors in its log.
//!
//! No event marks the end of a turn. It ends with a step that called no tool: opencode asks the model again only after a call. The
//! process may do anything afterwards.

use agentbay_plugin_sdk::classify::{self, ErrorReport};
use agentbay_plugin_sdk::{
    AnswerText, Category, Event, Failure, Level, Outcome, Protocol, RetryHint, Stop, ToolCall, ToolResult, Turn, Usage,
    UsageScope, Value, finished, json, notice,
};

use crate::log;

/// Suffix of opencode's message that it rejects a call that needs approval.
const REJECTED: &str = "The user rejected permission";

/// Number of consecutive model failures after which the run has failed. opencode retries up to the sixth one, for more than a minute,
/// or for as long as the provider asks.
const FAILURES_IN_A_ROW: u32 = 3;

/// Longest wait that a provider may ask for before the run counts as failed.
const WAIT_MS: u64 = 30_000;

/// The transcript of one run.
#[derive(Debug)]
pub struct Events {
    answer_text: AnswerText,
    session: String,
    /// The current message.
    message: String,
    step: Step,
    /// Number of consecutive model failures.
    failures: u32,
    /// The last error, unless a later step was successful.
    error: Option<Failure>,
    /// The error is opencode's own, and only the log explains it.
    is_internal: bool,
    /// The last error in the log.
    logged: String,
    is_done: bool,
    /// A text part had no text in the known field.
    is_wordless: bool,
    /// A call was rejected, which ends the run after the step.
    is_rejected: bool,
}

/// The state of the last step.
#[derive(Debug)]
enum Step {
    Running { called: bool },
    Ended(Stop),
}

impl Protocol for Events {
    const NAME: &'static str = "opencode";
    const LOGIN_HINT: &'static str = crate::LOGIN_HINT;

    fn new(_turn: &Turn) -> Self {
        Self {
            answer_text: AnswerText::default(),
            session: String::new(),
            message: String::new(),
            failures: 0,
            step: Step::Running { called: false },
            error: None,
            is_internal: false,
            logged: String::new(),
            is_done: false,
            is_wordless: false,
            is_rejected: false,
        }
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        let Some(kind) = json::text(event, &["type"]) else {
            return false;
        };
        if !matches!(kind, "step_start" | "step_finish" | "text" | "reasoning" | "tool_use" | "error") {
            return false;
        }
        // The output of a subagent is part of its tool call, not of the answer.
        if !self.is_own_session(event, events) {
            return true;
        }
        let part = json::at(event, &["part"]).unwrap_or(&Value::Null);
        if kind != "step_start" {
            self.failures = 0;
        }
        match kind {
            "step_start" => self.step_start(part, events),
            "text" => {
                self.answer_text.end_message();
                let words = json::text(part, &["text"]);
                self.is_wordless |= words.is_none();
                self.answer_text.push(words.unwrap_or_default(), events);
            }
            "reasoning" => {
                events.extend(json::non_empty_text(part, &["text"]).map(|text| Event::Reasoning(text.into())));
            }
            "tool_use" => self.tool(part, events),
            "step_finish" => self.step_finish(part, events),
            _ => self.fail(event, events),
        }
        true
    }

    fn read_stderr(&mut self, lines: &str, events: &mut Vec<Event>) {
        lines.split('\n').for_each(|line| self.log(line, events));
    }

    fn error(&self) -> &str {
        self.error.as_ref().map_or(&self.logged, |error| &error.detail)
    }

    fn unknown(&self) -> &str {
        if self.is_wordless { "text" } else { "" }
    }

    fn exited(&mut self, code: i32) -> Option<Outcome> {
        match (&self.step, &self.error) {
            (Step::Ended(stop), _) => Some(ended(*stop)),
            (_, Some(_)) if self.is_internal && !self.logged.is_empty() => Some(classify::failure(&self.logged).into()),
            (_, Some(error)) => Some(error.clone().into()),
            _ if code == 0 && self.is_rejected => Some(rejected().into()),
            _ => None,
        }
    }
}

impl Events {
    /// The first session id is the run's.
    fn is_own_session(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        let Some(id) = json::non_empty_id(event, &["sessionID"]) else {
            return true;
        };
        if self.session.is_empty() {
            self.session.clone_from(&id);
            events.push(Event::Session(id.clone()));
        }
        self.session == id
    }

    /// An error. The run continues after some of them.
    fn fail(&mut self, event: &Value, events: &mut Vec<Event>) {
        let failure = failure(event);
        events.push(notice(Level::Warning, failure.detail.clone()));
        self.is_internal = json::at(event, &["error", "data", "ref"]).is_some();
        self.step = Step::Running { called: false };
        self.error = Some(failure);
    }

    /// A step that starts again in the same message broke off inside an answer, which is not printed.
    fn step_start(&mut self, part: &Value, events: &mut Vec<Event>) {
        let message = json::text(part, &["messageID"]).unwrap_or_default();
        if message != self.message {
            message.clone_into(&mut self.message);
            self.failures = 0;
        } else if !message.is_empty() {
            let words = "opencode lost the connection to its provider in the middle of an answer";
            self.model_failed(Failure::new(Category::Network, words, ""), events);
        }
        self.step = Step::Running { called: false };
    }

    /// Only the log has the errors after which opencode retries the model.
    fn log(&mut self, line: &str, events: &mut Vec<Event>) {
        let field = |name: &str| log::field(line, name);
        let is_of_model = match field("message").as_deref() {
            Some("failed") => false,
            // Not those of the small model that finds a title, nor of a subagent.
            Some("stream error") if field("small").as_deref() == Some("false") && self.is_own(field("session.id")) => {
                true
            }
            Some(_) | None => return,
        };
        let Some(message) = field(if is_of_model { "error.error" } else { "error" }) else {
            return;
        };
        events.push(notice(Level::Warning, message.clone()));
        if is_of_model {
            self.model_failed(classify::failure(&message), events);
        }
        self.logged = message;
    }

    /// The model failed, and opencode retries it, which helps only against short outages.
    fn model_failed(&mut self, failure: Failure, events: &mut Vec<Event>) {
        self.failures += 1;
        let waits = matches!(failure.retry, Some(RetryHint::AfterMs(wait)) if wait > WAIT_MS);
        let is_final = failure.category == Category::Quota || waits || self.failures >= FAILURES_IN_A_ROW;
        if is_final && !self.is_done {
            self.is_done = true;
            events.push(Event::Done(failure.into()));
        }
    }

    fn is_own(&self, session: Option<String>) -> bool {
        self.session.is_empty() || session.is_none_or(|id| id == self.session)
    }

    /// A call is printed when it ends, in one event with its result.
    fn tool(&mut self, part: &Value, events: &mut Vec<Event>) {
        let id = json::id(part, &["callID"]);
        let error = json::non_empty_text(part, &["state", "error"]);
        let exit_code = json::integer(part, &["state", "metadata", "exit"]).unwrap_or(0);
        self.step = Step::Running { called: true };
        self.is_rejected |= error.is_some_and(|error| error.starts_with(REJECTED));
        self.answer_text.end_message();
        events.push(Event::ToolCall(ToolCall {
            id: id.clone(),
            name: json::to_text(part, &["tool"]),
            input: json::at(part, &["state", "input"]).map_or_else(|| "{}".to_owned(), Value::to_string),
        }));
        events.push(Event::ToolResult(ToolResult {
            id,
            output: error.map_or_else(|| json::to_text(part, &["state", "output"]), String::from),
            is_error: json::text(part, &["state", "status"]) == Some("error") || exit_code != 0,
        }));
    }

    fn step_finish(&mut self, part: &Value, events: &mut Vec<Event>) {
        if json::at(part, &["tokens"]).is_some_and(Value::is_object) {
            events.push(Event::Usage(usage(part)));
        }
        let called = matches!(self.step, Step::Running { called: true });
        let Some(stop) = stop(json::text(part, &["reason"])) else {
            self.step = Step::Running { called: false };
            return;
        };
        self.step = Step::Ended(stop);
        self.error = None;
        // Some providers send "stop" after a call too. Then another step follows.
        if !called && !self.is_done {
            self.is_done = true;
            events.push(Event::Done(ended(stop)));
        }
    }
}

/// The stop reason of a step; `None` if it waits for the results of its calls.
fn stop(reason: Option<&str>) -> Option<Stop> {
    match reason {
        Some("stop" | "other") => Some(Stop::EndTurn),
        Some("length") => Some(Stop::MaxTokens),
        Some("content-filter") => Some(Stop::Refusal),
        Some(_) | None => None,
    }
}

fn ended(stop: Stop) -> Outcome {
    Outcome { stop, ..finished(None) }
}

/// A provider's error has its status, the code in its body, and a retry time.
fn failure(event: &Value) -> Failure {
    let data = json::at(event, &["error", "data"]).unwrap_or(&Value::Null);
    let name = json::text(event, &["error", "name"]).unwrap_or_default();
    let body = json::text(data, &["responseBody"]).and_then(json::leading_object).unwrap_or(Value::Null);
    let code = ["code", "type", "status"].into_iter().find_map(|field| json::non_empty_text(&body, &["error", field]));
    let fallback = json::at(event, &["error"]).or_else(|| json::at(event, &["message"])).map(json::error_message);
    let message =
        json::non_empty_text(data, &["message"]).or(Some(name).filter(|name| !name.is_empty())).map(String::from);
    let message = message.or(fallback).unwrap_or_default();
    let status = json::integer(data, &["statusCode"]).and_then(|status| u64::try_from(status).ok());
    let mut failure = ErrorReport::new(&message).status(status).code(code.unwrap_or(name)).failure();
    failure.retry = retry_after(data).or(failure.retry);
    failure
}

fn retry_after(data: &Value) -> Option<RetryHint> {
    let header = |name: &str| json::text(data, &["responseHeaders", name])?.trim().parse::<u64>().ok();
    let milliseconds = header("retry-after-ms").or_else(|| header("retry-after")?.checked_mul(1000))?;
    Some(RetryHint::AfterMs(milliseconds))
}

fn rejected() -> Failure {
    let message = "opencode ended the run at a call that it would have had to ask a person about: \
                   raise `permission` of the model, or let its `permission` rules allow or deny the call";
    Failure::new(Category::Configuration, message, "")
}

/// `input` excludes tokens read from and written to a cache, `output` excludes reasoning.
fn usage(part: &Value) -> Usage {
    let tokens = |path: &[&str]| json::count(part, path);
    let (cached_input, cache_write) = (tokens(&["tokens", "cache", "read"]), tokens(&["tokens", "cache", "write"]));
    let reasoning = tokens(&["tokens", "reasoning"]);
    Usage {
        scope: UsageScope::Step,
        input: tokens(&["tokens", "input"]).saturating_add(cached_input).saturating_add(cache_write),
        cached_input,
        cache_write,
        output: tokens(&["tokens", "output"]).saturating_add(reasoning),
        reasoning,
    }
}
