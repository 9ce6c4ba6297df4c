//! Owns the meaning of the events of `opencode run --format json`, and of the errors in its log.
//!
//! There is no event for the end of a turn. It is over with a step that ended and called no tool: opencode asks the model
//! again only behind a call. What happens to the process after that does not matter.

use agentbay_plugin_sdk::classify::{self, Report};
use agentbay_plugin_sdk::{
    Category, Event, Failure, Level, Outcome, Protocol, RetryHint, Speech, Stop, ToolCall, ToolResult, Turn, Usage,
    UsageScope, Value, finished, json, notice,
};

use crate::log;

/// The end of the message with which opencode rejects a call that it would have to ask a person about.
const REJECTED: &str = "The user rejected permission";

/// How many times in a row the model may fail before the run counts as failed. opencode goes on to the sixth time, for more
/// than a minute, or for as long as the provider says.
const FAILURES_IN_A_ROW: u32 = 3;

/// The longest time that a provider may ask to wait before the run counts as failed.
const WAIT_MS: u64 = 30_000;

/// The state of one run's events.
#[derive(Debug)]
pub struct Events {
    speech: Speech,
    session: String,
    /// The message that is being told.
    message: String,
    step: Step,
    /// How many times in a row the model failed.
    failures: u32,
    /// The last error, unless a later step ended well.
    error: Option<Failure>,
    /// The error is one of opencode itself, of which only the log tells more.
    is_internal: bool,
    /// The last error in the log.
    logged: String,
    is_done: bool,
    /// A text had no words where they are known to stand.
    is_wordless: bool,
    /// A call was rejected, which ends the run behind the step.
    is_rejected: bool,
}

/// How far the step that was begun last has come.
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
            speech: Speech::default(),
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
        // What an agent says that was called for help is part of that call, not of the answer.
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
                self.speech.part();
                let words = json::text(part, &["text"]);
                self.is_wordless |= words.is_none();
                self.speech.say(words.unwrap_or_default(), events);
            }
            "reasoning" => {
                events.extend(json::some_text(part, &["text"]).map(|text| Event::Reasoning(text.into())));
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
    /// The first session told is that of the run.
    fn is_own_session(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        let Some(id) = json::some_id(event, &["sessionID"]) else {
            return true;
        };
        if self.session.is_empty() {
            self.session.clone_from(&id);
            events.push(Event::Session(id.clone()));
        }
        self.session == id
    }

    /// The run goes on after some errors.
    fn fail(&mut self, event: &Value, events: &mut Vec<Event>) {
        let failure = failure(event);
        events.push(notice(Level::Warning, failure.detail.clone()));
        self.is_internal = json::at(event, &["error", "data", "ref"]).is_some();
        self.step = Step::Running { called: false };
        self.error = Some(failure);
    }

    /// A step that begins again in the same message broke off in the middle of an answer, of which nothing is told.
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

    /// Only the log tells after what opencode asks the model again.
    fn log(&mut self, line: &str, events: &mut Vec<Event>) {
        let field = |name: &str| log::field(line, name);
        let is_of_model = match field("message").as_deref() {
            Some("failed") => false,
            // Not of the small model that finds a title, nor of an agent that was called for help.
            Some("stream error") if field("small").as_deref() == Some("false") && self.is_own(field("session.id")) => {
                true
            }
            Some(_) | None => return,
        };
        let Some(said) = field(if is_of_model { "error.error" } else { "error" }) else {
            return;
        };
        events.push(notice(Level::Warning, said.clone()));
        if is_of_model {
            self.model_failed(classify::failure(&said), events);
        }
        self.logged = said;
    }

    /// The model failed, and opencode asks it again, which helps after a moment's trouble only.
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

    /// A call is told when it is over, in one event with its result.
    fn tool(&mut self, part: &Value, events: &mut Vec<Event>) {
        let id = json::id(part, &["callID"]);
        let error = json::some_text(part, &["state", "error"]);
        let exit_code = json::integer(part, &["state", "metadata", "exit"]).unwrap_or(0);
        self.step = Step::Running { called: true };
        self.is_rejected |= error.is_some_and(|error| error.starts_with(REJECTED));
        self.speech.part();
        events.push(Event::ToolCall(ToolCall {
            id: id.clone(),
            name: json::shown(part, &["tool"]),
            input: json::at(part, &["state", "input"]).map_or_else(|| "{}".to_owned(), Value::to_string),
        }));
        events.push(Event::ToolResult(ToolResult {
            id,
            output: error.map_or_else(|| json::shown(part, &["state", "output"]), String::from),
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
        // Some providers say "stop" behind a call too. Then another step follows.
        if !called && !self.is_done {
            self.is_done = true;
            events.push(Event::Done(ended(stop)));
        }
    }
}

/// Why the model stopped talking; none if it waits for what its calls give.
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

/// An error of the provider brings along its status, the code in its body, and when to try again.
fn failure(event: &Value) -> Failure {
    let data = json::at(event, &["error", "data"]).unwrap_or(&Value::Null);
    let name = json::text(event, &["error", "name"]).unwrap_or_default();
    let body = json::text(data, &["responseBody"]).and_then(json::leading_object).unwrap_or(Value::Null);
    let code = ["code", "type", "status"].into_iter().find_map(|field| json::some_text(&body, &["error", field]));
    let told = json::at(event, &["error"]).or_else(|| json::at(event, &["message"])).map(json::error_words);
    let said = json::some_text(data, &["message"]).or(Some(name).filter(|name| !name.is_empty())).map(String::from);
    let said = said.or(told).unwrap_or_default();
    let status = json::integer(data, &["statusCode"]).and_then(|status| u64::try_from(status).ok());
    let mut failure = Report::new(&said).status(status).code(code.unwrap_or(name)).failure();
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

/// `input` counts what was neither read from a cache nor written to one, `output` what was not reasoning.
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
