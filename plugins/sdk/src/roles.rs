//! Owns the reading of role lines, which several CLIs print: the messages of the conversation, one JSON object a line, as
//! `{"role":"assistant","content":"…"}`, all of them at the end of the run. And the command line that goes with it: the
//! prompt is an argument, for those CLIs do not read standard input.
//!
//! Nothing says that the turn is over, and nothing that it failed: an error is told as the assistant's last message, and
//! the process exits with 0.

use std::marker::PhantomData;

use serde_json::Value;

use crate::classify;
use crate::json::{self, content_text, id, items, shown, some_text, text};
use crate::prompt::ARGUMENT_BYTES;
use crate::{
    Category, Event, Failure, Outcome, Permission, Plan, Protocol, Speech, ToolCall, ToolResult, Turn, UsageScope,
    finished, usage_beside,
};

/// What an error begins with when it is told as a message.
const ERROR_PREFIX: &str = "Sorry, I encountered an error: ";

/// What stands in place of a message in which the model only calls tools.
const NO_WORDS: &str = "Using tools to help you...";

/// The command line `PROGRAM --directory DIR [--model NAME] --prompt=TEXT`.
///
/// # Errors
/// `validation` if the prompt is too long for an argument, and `configuration` if the turn asks for what these CLIs have
/// not: a way to keep them from changing anything, or sessions that are resumed by their id.
pub fn prepare(program: &str, turn: &Turn) -> Result<Plan, Failure> {
    if turn.permission == Permission::ReadOnly {
        let message = format!("{program} cannot be kept from changing files: `permission` cannot be \"read-only\"");
        return Err(Failure::new(Category::Configuration, message, ""));
    }
    if turn.session.is_some() {
        let message = format!("{program} cannot resume a session by its id");
        return Err(Failure::new(Category::Validation, message, ""));
    }
    // One argument with the option's name in it: what the prompt begins with cannot be taken for an option.
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

/// What sets one of these CLIs apart from the others.
pub trait RoleCli {
    /// Its name in messages.
    const NAME: &'static str;
    /// How to log in, for the failures that say so.
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
        if self.lines.is_wordless { "content" } else { "" }
    }

    fn exited(&mut self, code: i32) -> Option<Outcome> {
        self.lines.exited(code)
    }
}

/// The state of one run's lines.
#[derive(Debug, Default)]
struct RoleLines {
    speech: Speech,
    /// The last message, if it reads like an error. It is one unless something follows.
    suspect: String,
    /// The last line is a message of the assistant that calls no tool.
    is_answered: bool,
    /// A message had content that is not known.
    is_wordless: bool,
}

impl RoleLines {
    /// Reads one line's object and adds what it means; false if it is of no known role.
    fn read(&mut self, line: &Value, events: &mut Vec<Event>) -> bool {
        let Some(role) = text(line, &["role"]) else {
            return false;
        };
        if !matches!(role, "system" | "user" | "assistant" | "tool") {
            return false;
        }
        let suspect = std::mem::take(&mut self.suspect);
        self.speech.say(&suspect, events);
        self.is_answered = false;
        events.extend(usage_beside(line, UsageScope::Step).map(Event::Usage));
        match role {
            "assistant" => self.assistant(line, events),
            "tool" => {
                self.speech.part();
                events.push(Event::ToolResult(ToolResult {
                    id: id(line, &["tool_call_id"]),
                    output: content(line),
                    is_error: false,
                }));
            }
            // The prompt and what stands before it.
            _ => {}
        }
        true
    }

    fn assistant(&mut self, line: &Value, events: &mut Vec<Event>) {
        let calls = items(line, &["tool_calls"]);
        let told = json::at(line, &["content"]).filter(|content| !content.is_null());
        self.is_wordless |= told.is_some_and(|content| content_text(content).is_none());
        let said = content(line);
        self.is_answered = calls.is_empty();
        self.speech.part();
        if calls.is_empty() && said.starts_with(ERROR_PREFIX) {
            self.suspect = said;
        } else if calls.is_empty() || said != NO_WORDS {
            self.speech.say(&said, events);
        }
        for call in calls {
            self.speech.part();
            events.push(Event::ToolCall(ToolCall {
                id: id(call, &["id"]),
                name: shown(call, &["function", "name"]),
                input: some_text(call, &["function", "arguments"]).unwrap_or("{}").into(),
            }));
        }
    }

    /// The verdict on a process that ended by itself with this code; none if it had not finished.
    fn exited(&self, code: i32) -> Option<Outcome> {
        if let Some(said) = self.suspect.strip_prefix(ERROR_PREFIX) {
            return Some(classify::failure(said).into());
        }
        (self.is_answered && code == 0).then(|| finished(None))
    }
}

fn content(line: &Value) -> String {
    json::at(line, &["content"]).and_then(content_text).unwrap_or_default()
}
