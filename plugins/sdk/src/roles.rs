//! Role lines, which several CLIs print: the messages of the conversation, one JSON object a line, as
//! `{"role":"assistant","content":"…"}`, all of them at the end of the run. Also the command line of these CLIs: the prompt is an
//! argument, since they do not read standard input.
//!
//! No event reports the end of a turn or a failure: an error is the assistant's last message, and the process exits with 0.

use std::marker::PhantomData;

use serde_json::Value;

use crate::classify;
use crate::json::{self, content_text, id, items, non_empty_text, text, to_text};
use crate::prompt::ARGUMENT_BYTES;
use crate::{
    AnswerText, Category, Event, Failure, Outcome, Permission, Plan, Protocol, ToolCall, ToolResult, Turn, UsageScope,
    finished, usage_of,
};

/// Prefix of an error that is printed as a message.
const ERROR_PREFIX: &str = "Sorry, I encountered an error: ";

/// Placeholder for a message that only calls tools.
const TOOLS_ONLY: &str = "Using tools to help you...";

/// The command line `PROGRAM --directory DIR [--model NAME] --prompt=TEXT`.
///
/// # Errors
/// `validation` if the prompt is too long for an argument; `configuration` if the turn asks for a feature that these CLIs lack:
/// read-only operation, or resuming a session by its id.
pub fn prepare(program: &str, turn: &Turn) -> Result<Plan, Failure> {
    if turn.permission == Permission::ReadOnly {
        let message = format!("{program} cannot be kept from changing files: `permission` cannot be \"read-only\"");
        return Err(Failure::new(Category::Configuration, message, ""));
    }
    if turn.session.is_some() {
        let message = format!("{program} cannot resume a session by its id");
        return Err(Failure::new(Category::Validation, message, ""));
    }
    // One argument together with the option's name: no prompt can be taken for an option.
    let prompt = format!("--prompt={}", turn.prompt);
    if prompt.len() > ARGUMENT_BYTES {
        let message = format!(
            "the prompt is {} bytes long, and {program} takes it as an argument, which holds no more than 128 KiB",
            turn.prompt.len()
        );
        return Err(Failure::new(Category::Validation, message, ""));
    }
    let mut plan = Plan::new(program, []).option("--directory", &turn.workdir)?;
    if let Some(model) = &turn.model {
        plan = plan.option("--model", model)?;
    }
    Ok(plan.arg(&prompt))
}

/// The differences between these CLIs.
pub trait RoleCli {
    /// The CLI's name in messages.
    const NAME: &'static str;
    /// Login instructions for `authentication` failures.
    const LOGIN_HINT: &'static str;
}

/// The protocol of one of these CLIs.
#[derive(Debug)]
pub struct Roles<C> {
    lines: RoleLines,
    cli: PhantomData<C>,
}

impl<C: RoleCli> Protocol for Roles<C> {
    const NAME: &'static str = C::NAME;
    const LOGIN_HINT: &'static str = C::LOGIN_HINT;

    fn new(_turn: &Turn) -> Self {
        Self { lines: RoleLines::default(), cli: PhantomData }
    }

    /// The prompt is an argument.
    fn input(_turn: &Turn) -> String {
        String::new()
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        self.lines.read(event, events)
    }

    fn unknown(&self) -> &str {
        if self.lines.has_unknown_content { "content" } else { "" }
    }

    fn exited(&mut self, code: i32) -> Option<Outcome> {
        self.lines.exited(code)
    }
}

/// The state of one run's lines.
#[derive(Debug, Default)]
struct RoleLines {
    answer_text: AnswerText,
    /// The last message, if it has the form of an error. It is one unless another line follows.
    possible_error: String,
    /// The last line is a message of the assistant without tool calls.
    is_answered: bool,
    /// A message had unknown content.
    has_unknown_content: bool,
}

impl RoleLines {
    /// Reads one line's object and adds its events; false if its role is unknown.
    fn read(&mut self, line: &Value, events: &mut Vec<Event>) -> bool {
        let Some(role) = text(line, &["role"]) else {
            return false;
        };
        if !matches!(role, "system" | "user" | "assistant" | "tool") {
            return false;
        }
        let possible_error = std::mem::take(&mut self.possible_error);
        self.answer_text.push(&possible_error, events);
        self.is_answered = false;
        events.extend(usage_of(line, UsageScope::Step).map(Event::Usage));
        match role {
            "assistant" => self.assistant(line, events),
            "tool" => {
                self.answer_text.end_message();
                events.push(Event::ToolResult(ToolResult {
                    id: id(line, &["tool_call_id"]),
                    output: content(line),
                    is_error: false,
                }));
            }
            // The prompt and earlier messages.
            _ => {}
        }
        true
    }

    fn assistant(&mut self, line: &Value, events: &mut Vec<Event>) {
        let calls = items(line, &["tool_calls"]);
        let message = json::at(line, &["content"]).filter(|content| !content.is_null());
        self.has_unknown_content |= message.is_some_and(|content| content_text(content).is_none());
        let text = content(line);
        self.is_answered = calls.is_empty();
        self.answer_text.end_message();
        if calls.is_empty() && text.starts_with(ERROR_PREFIX) {
            self.possible_error = text;
        } else if calls.is_empty() || text != TOOLS_ONLY {
            self.answer_text.push(&text, events);
        }
        for call in calls {
            self.answer_text.end_message();
            events.push(Event::ToolCall(ToolCall {
                id: id(call, &["id"]),
                name: to_text(call, &["function", "name"]),
                input: non_empty_text(call, &["function", "arguments"]).unwrap_or("{}").into(),
            }));
        }
    }

    /// The outcome of a process that exited with this code; `None` if the turn was not finished.
    fn exited(&self, code: i32) -> Option<Outcome> {
        if let Some(error) = self.possible_error.strip_prefix(ERROR_PREFIX) {
            return Some(classify::failure(error).into());
        }
        (self.is_answered && code == 0).then(|| finished(None))
    }
}

fn content(line: &Value) -> String {
    json::at(line, &["content"]).and_then(content_text).unwrap_or_default()
}
