//! The meaning of the JSON values of a run: by the paths of the options, and otherwise by the events that many CLIs print.

use agentbay_plugin_sdk::{AnswerText, Category, Event, Outcome, Stop, Value, failed, finished, json};

use crate::content::{self, Part};
use crate::fault::Fault;
use crate::options::{Format, Paths, Settings};
use crate::rule::{Rule, first};
use crate::seen::Seen;
use crate::usage;

/// Fields in which many CLIs have their session.
const SESSION: [&str; 5] = ["session_id", "sessionId", "sessionID", "thread_id", "threadId"];

/// The state after the values so far.
#[derive(Debug)]
pub(crate) struct Reading {
    paths: Paths,
    format: Format,
    /// A session that cannot be resumed is not emitted.
    is_resumable: bool,
    session: String,
    answer_text: AnswerText,
    /// The whole answer, if the CLI repeats it at the end.
    answer: Option<String>,
    /// The last error, unless text or an answer followed.
    fault: Option<Fault>,
    seen: Seen,
}

impl Reading {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            paths: settings.paths.clone(),
            format: settings.format,
            is_resumable: settings.abilities.resume.is_some(),
            session: String::new(),
            answer_text: AnswerText::default(),
            answer: None,
            fault: None,
            seen: Seen::default(),
        }
    }

    /// Reads a value. False if nothing in it is known.
    pub(crate) fn read(&mut self, value: &Value, events: &mut Vec<Event>) -> bool {
        let mut is_known = self.session(value, events);
        is_known |= self.usage(value, events);
        if self.paths.breaks.iter().any(|condition| condition.holds(value)) {
            self.answer_text.end_message();
            is_known = true;
        }
        if let Some(thought) = text_at(&self.paths.reasoning, value) {
            events.push(Event::Reasoning(thought));
            is_known = true;
        }
        let fault = match first(&self.paths.error, value) {
            None if self.paths.error.is_empty() => Fault::in_value(value),
            None => None,
            Some(error) => Fault::at(error, value),
        };
        if let Some(fault) = fault {
            self.fault = Some(fault);
            return true;
        }
        let Some(part) = self.part(value) else { return is_known };
        self.take(part, events);
        true
    }

    /// Counts a value, known or unknown, with its source text.
    pub(crate) fn count(&mut self, value: &Value, source: &str) {
        self.seen.count(value, source);
    }

    /// The start of the last value; empty if there was none.
    pub(crate) fn last(&self) -> &str {
        self.seen.last()
    }

    /// The error that counts, if any.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Whether any text was emitted.
    pub(crate) fn has_text(&self) -> bool {
        self.answer_text.has_text()
    }

    /// The outcome of a process that exited with 0; `None` if there was no value.
    pub(crate) fn end(&mut self) -> Option<Outcome> {
        match &self.fault {
            Some(fault) if fault.is_turn_limit() && self.answer_text.has_text() => {
                return Some(Outcome { stop: Stop::MaxTurns, ..finished(None) });
            }
            Some(fault) => return Some(fault.failure().into()),
            None => {}
        }
        if self.answer_text.has_text() {
            return Some(finished(None));
        }
        if let Some(answer) = self.answer.take() {
            return Some(finished(Some(answer)));
        }
        (!self.seen.is_empty()).then(|| {
            let message = format!(
                "The CLI ended well, but no answer was found in what it printed: {}. If one of these has it, say where \
                 with the option `text_path` or `answer_path` of the model",
                self.seen.kinds()
            );
            failed(Category::Unknown, message, self.seen.last())
        })
    }

    fn part(&self, value: &Value) -> Option<Part> {
        let Paths { text, message, answer, .. } = &self.paths;
        if text.is_empty() && message.is_empty() && answer.is_empty() {
            return match self.format {
                Format::Json => content::of_value(value).map(Part::Answer),
                Format::Text | Format::StreamJson => content::of_event(value),
            };
        }
        text_at(text, value)
            .map(Part::Text)
            .or_else(|| text_at(message, value).map(Part::Message))
            .or_else(|| text_at(answer, value).map(Part::Answer))
    }

    fn take(&mut self, part: Part, events: &mut Vec<Event>) {
        match part {
            Part::Text(text) if !text.is_empty() => {
                self.fault = None;
                self.answer_text.push(&text, events);
            }
            Part::Message(text) if !text.is_empty() => {
                self.fault = None;
                self.answer_text.end_message();
                self.answer_text.push(&text, events);
                self.answer_text.end_message();
            }
            Part::Answer(answer) if !answer.trim().is_empty() => {
                self.fault = None;
                self.answer = Some(answer);
            }
            Part::Over => self.fault = None,
            Part::Text(_) | Part::Message(_) | Part::Answer(_) | Part::Nothing => {}
        }
    }

    fn session(&mut self, value: &Value, events: &mut Vec<Event>) -> bool {
        if !self.is_resumable {
            return false;
        }
        let session = match first(&self.paths.session, value) {
            Some(found) => json::id(found, &[]),
            None if self.paths.session.is_empty() => {
                SESSION.iter().find_map(|name| json::non_empty_id(value, &[name])).unwrap_or_default()
            }
            None => return false,
        };
        if session.is_empty() {
            return false;
        }
        if session != self.session {
            events.push(Event::Session(session.clone()));
            self.session = session;
        }
        // Events of every kind may have a session.
        !self.paths.session.is_empty()
    }

    fn usage(&self, value: &Value, events: &mut Vec<Event>) -> bool {
        let counts = match first(&self.paths.usage, value) {
            None if self.paths.usage.is_empty() => json::at(value, &["usage"]),
            counts => counts,
        };
        let usage = counts.and_then(usage::of);
        let has_usage = usage.is_some();
        events.extend(usage);
        has_usage && !self.paths.usage.is_empty()
    }
}

/// The text at the first matching rule: a string, or the texts of a list of blocks.
fn text_at(rules: &[Rule], value: &Value) -> Option<String> {
    rules.iter().find_map(|rule| rule.find(value)).and_then(json::content_text)
}
