//! Owns what the JSON values of a run mean together: by the paths of the options, and where these say nothing by the kinds
//! that many CLIs print.

use agentbay_plugin_sdk::{Category, Event, Outcome, Speech, Stop, Value, failed, finished, json};

use crate::content::{self, Part};
use crate::fault::Fault;
use crate::options::{Format, Paths, Settings};
use crate::rule::{Rule, first};
use crate::seen::Seen;
use crate::usage;

/// Names under which many CLIs tell their session.
const SESSION: [&str; 5] = ["session_id", "sessionId", "sessionID", "thread_id", "threadId"];

/// What the values so far have told.
#[derive(Debug)]
pub(crate) struct Reading {
    paths: Paths,
    format: Format,
    /// A session that cannot be gone on with is not told.
    is_resumable: bool,
    session: String,
    speech: Speech,
    /// The whole answer, if the CLI repeats it at the end.
    answer: Option<String>,
    /// What went wrong last, unless text or an answer followed.
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
            speech: Speech::default(),
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
            self.speech.part();
            is_known = true;
        }
        if let Some(thought) = said(&self.paths.reasoning, value) {
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

    /// Counts a value, known or not, that was read from this text.
    pub(crate) fn count(&mut self, value: &Value, source: &str) {
        self.seen.count(value, source);
    }

    /// The beginning of the last value; empty if none came.
    pub(crate) fn last(&self) -> &str {
        self.seen.last()
    }

    /// The error that holds, if any.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Whether any text was passed on.
    pub(crate) fn spoke(&self) -> bool {
        self.speech.spoke()
    }

    /// The outcome of a process that exited with 0; none if no value came.
    pub(crate) fn end(&mut self) -> Option<Outcome> {
        match &self.fault {
            Some(fault) if fault.is_turn_limit() && self.speech.spoke() => {
                return Some(Outcome { stop: Stop::MaxTurns, ..finished(None) });
            }
            Some(fault) => return Some(fault.failure().into()),
            None => {}
        }
        if self.speech.spoke() {
            return Some(finished(None));
        }
        if let Some(answer) = self.answer.take() {
            return Some(finished(Some(answer)));
        }
        (!self.seen.is_empty()).then(|| {
            let message = format!(
                "The CLI ended well, but no answer was found in what it printed: {}. If one of these has it, say where \
                 with the option `text_path` or `answer_path` of the model",
                self.seen.told()
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
        said(text, value)
            .map(Part::Text)
            .or_else(|| said(message, value).map(Part::Message))
            .or_else(|| said(answer, value).map(Part::Answer))
    }

    fn take(&mut self, part: Part, events: &mut Vec<Event>) {
        match part {
            Part::Text(text) if !text.is_empty() => {
                self.fault = None;
                self.speech.say(&text, events);
            }
            Part::Message(text) if !text.is_empty() => {
                self.fault = None;
                self.speech.part();
                self.speech.say(&text, events);
                self.speech.part();
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
                SESSION.iter().find_map(|name| json::some_id(value, &[name])).unwrap_or_default()
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
        // An event of any kind has it.
        !self.paths.session.is_empty()
    }

    fn usage(&self, value: &Value, events: &mut Vec<Event>) -> bool {
        let counts = match first(&self.paths.usage, value) {
            None if self.paths.usage.is_empty() => json::at(value, &["usage"]),
            counts => counts,
        };
        let told = counts.and_then(usage::of);
        let is_told = told.is_some();
        events.extend(told);
        is_told && !self.paths.usage.is_empty()
    }
}

/// The text that the rules lead to: a string, or the texts of a list of blocks.
fn said(rules: &[Rule], value: &Value) -> Option<String> {
    rules.iter().find_map(|rule| rule.find(value)).and_then(json::content_text)
}
