//! The common part of transcripts of CLIs that print JSON events: which objects are events, how plain text is handled, and the
//! outcome of a process that ended without reporting one. A [`Protocol`] defines the meaning of the events. `unrecognized.rs`
//! keeps everything else.

use serde_json::Value;

use crate::exit_outcome::{limit_failure, merge_final_events};
use crate::unrecognized::{Unrecognized, is_separator, unknown_answer};
use crate::{
    Category, Event, ExitStatus, Failure, JsonReader, Level, Outcome, Piece, StderrTail, StreamName, Transcript, Turn,
    exit_outcome, failed_without_answer, finished, notice, outcome_without_output,
};

/// Number of characters of a line in a notice.
const SHOWN_CHARS: usize = 200;

/// The meaning of one CLI's events.
pub trait Protocol {
    /// The CLI's name in messages.
    const NAME: &'static str;

    /// Login instructions, as in the description's probe. They are added to the message of an `authentication` failure.
    const LOGIN_HINT: &'static str = "";

    /// Exit codes with a specific meaning: the category and a message. They count where the error text gives no category.
    const EXIT_CODES: &'static [(i32, Category, &'static str)] = &[];

    /// Called before the process starts.
    fn new(turn: &Turn) -> Self;

    /// The text for standard input, which is closed afterwards. By default the prompt.
    fn input(turn: &Turn) -> String {
        turn.prompt.clone()
    }

    /// Reads one JSON object and adds its events; false if it is not an event of this CLI.
    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool;

    /// Reads whole lines of standard error, for a CLI that reports something only there.
    fn read_stderr(&mut self, lines: &str, events: &mut Vec<Event>) {
        let _ = (lines, events);
    }

    /// The last text from the CLI's error channel; empty if there is none.
    fn error(&self) -> &str {
        ""
    }

    /// The kind of an unknown part of a known event that may have been the answer; empty if there is none.
    fn unknown(&self) -> &str {
        ""
    }

    /// The outcome of a process that exited with this code, for a CLI that never reports the end of its turn. `None`: the turn was
    /// not finished, and the default rule applies. Called only if there was an event.
    fn exited(&mut self, code: i32) -> Option<Outcome> {
        let _ = code;
        None
    }
}

/// The transcript of a CLI that prints JSON events, for the framing `lines`.
///
/// [`JsonReader`] finds the events, however they are spread over lines. Output without any known event is plain text, as an older
/// version or a wrapper script prints it: its last block is the answer, unless it consists of unknown events only. After the
/// first known event, text between events becomes a notice for the log. A turn that finished without text has failed if there
/// was something unknown that may have been the text.
#[derive(Debug)]
pub struct JsonLines<P> {
    protocol: P,
    reader: JsonReader,
    understood: bool,
    /// Text was emitted.
    has_text: bool,
    /// The CLI reported a successful end before any text.
    ended_empty: Option<Outcome>,
    is_resumed: bool,
    /// A notice of the current line was emitted.
    is_noted: bool,
    unrecognized: Unrecognized,
    stderr: StderrTail,
}

impl<P: Protocol> Transcript for JsonLines<P> {
    fn new(turn: &Turn) -> Self {
        Self {
            protocol: P::new(turn),
            reader: JsonReader::default(),
            understood: false,
            has_text: false,
            ended_empty: None,
            is_resumed: turn.session.is_some(),
            is_noted: false,
            unrecognized: Unrecognized::default(),
            stderr: StderrTail::default(),
        }
    }

    fn begin(&mut self, turn: &Turn) -> Vec<Event> {
        vec![Event::Reply(P::input(turn)), Event::EndInput]
    }

    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        match source {
            StreamName::Stdout => {
                let mut reader = std::mem::take(&mut self.reader);
                reader.push_lines(text, &mut |piece| self.piece(piece, &mut events));
                self.reader = reader;
            }
            StreamName::Stderr => {
                self.stderr.push_lines(text);
                self.protocol.read_stderr(text, &mut events);
            }
        }
        for event in &mut events {
            match event {
                Event::Text(_) => self.has_text = true,
                Event::Done(outcome) => {
                    self.judge(outcome);
                    let is_good = outcome.failure.is_none();
                    self.ended_empty = (is_good && self.is_empty(outcome)).then(|| outcome.clone());
                }
                _ => {}
            }
        }
        events.extend(self.second_outcome().map(Event::Done));
        events
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        let mut events = Vec::new();
        std::mem::take(&mut self.reader).finish(&mut |piece| self.piece(piece, &mut events));
        let mut outcome = merge_final_events(events, || self.outcome(how));
        if let Some(failure) = &mut outcome.failure {
            by_exit_code::<P>(how, failure);
        }
        self.judge(&mut outcome);
        outcome
    }
}

impl<P: Protocol> JsonLines<P> {
    fn outcome(&mut self, how: ExitStatus) -> Outcome {
        if let ExitStatus::Code(code) = how
            && self.understood
            && let Some(outcome) = self.protocol.exited(code)
        {
            return outcome;
        }
        let error = self.protocol.error();
        let error_text = if error.is_empty() { self.stderr.text() } else { error };
        let mut outcome = exit_outcome(how, error_text, || self.clean(error_text));
        if let (Some(failure), false) = (&mut outcome.failure, self.understood) {
            failure.detail = self.unrecognized.detail(std::mem::take(&mut failure.detail));
        }
        outcome
    }

    /// The outcome of a process that exited with 0 without reporting the end of its turn.
    fn clean(&self, error_text: &str) -> Outcome {
        if self.understood {
            return failed_without_answer(&format!("{} ended before it had finished its turn", P::NAME), error_text);
        }
        if let Some(answer) = self.unrecognized.answer() {
            return finished(Some(answer));
        }
        if !self.unrecognized.is_blank() {
            return failed_without_answer(&self.unrecognized.message(P::NAME), error_text);
        }
        outcome_without_output(error_text, self.is_resumed)
    }

    /// Adjusts an outcome: a turn without text is not a success if there was something unknown in it.
    fn judge(&self, outcome: &mut Outcome) {
        let is_empty = self.is_empty(outcome);
        if is_empty && outcome.failure.is_none() && self.understood {
            let part = self.protocol.unknown();
            outcome.failure = if part.is_empty() {
                self.unrecognized.failure(P::NAME)
            } else {
                Some(unknown_answer(P::NAME, &format!("`{part}`")))
            };
        }
        if is_empty && outcome.failure.is_none() {
            outcome.failure = limit_failure(outcome.stop);
        }
        if let Some(failure) = &mut outcome.failure {
            failure.add_login_hint(P::LOGIN_HINT);
        }
    }

    /// Whether a turn with this outcome has no text.
    fn is_empty(&self, outcome: &Outcome) -> bool {
        !self.has_text && outcome.answer.as_ref().is_none_or(String::is_empty)
    }

    /// A second outcome for a turn that finished without text, if an unknown part that followed may have been its text.
    fn second_outcome(&mut self) -> Option<Outcome> {
        let mut outcome = self.ended_empty.clone()?;
        self.judge(&mut outcome);
        outcome.failure.as_ref()?;
        self.ended_empty = None;
        Some(outcome)
    }

    fn piece(&mut self, piece: Piece<'_>, events: &mut Vec<Event>) {
        match piece {
            Piece::Object(event, source) => {
                if self.protocol.read(&event, events) {
                    self.understood = true;
                    self.unrecognized.forget_text();
                } else {
                    self.unrecognized.object(&event, source, self.understood);
                }
            }
            Piece::Text(text) if self.understood => {
                self.unrecognized.broken_event(text);
                if !std::mem::replace(&mut self.is_noted, !text.ends_with('\n')) && !is_separator(text) {
                    let shown: String = text.trim_end_matches('\n').chars().take(SHOWN_CHARS).collect();
                    events.push(notice(Level::Debug, format!("not an event: {shown}")));
                }
            }
            Piece::Text(text) => self.unrecognized.text(text),
        }
    }
}

fn by_exit_code<P: Protocol>(how: ExitStatus, failure: &mut Failure) {
    let meaning = P::EXIT_CODES.iter().find(|(code, ..)| matches!(how, ExitStatus::Code(exit) if exit == *code));
    if let Some((_, category, message)) = meaning
        && failure.category == Category::Unknown
    {
        failure.category = *category;
        failure.message = (*message).into();
    }
}
