//! Owns the transcript of a CLI that prints JSON events, as far as it is the same for all of them: what counts as an event,
//! what becomes of plain text, and the verdict on a process that ended without an event for it. What the events mean is a
//! [`Protocol`], what was not understood is kept in `unread.rs`.

use serde_json::Value;

use crate::ending::{at_the_end, cut_off};
use crate::unread::{Unread, is_glue, lost};
use crate::{
    Category, Event, ExitStatus, Failure, JsonReader, Level, Outcome, Piece, StderrTail, StreamName, Transcript, Turn,
    ended, ended_without_answer, finished, notice, silent,
};

/// How many characters of a line are shown in a notice.
const SHOWN_CHARS: usize = 200;

/// What the events of one CLI mean.
pub trait Protocol {
    /// The CLI's name in messages.
    const NAME: &'static str;

    /// How to log in, as in the description's probe. It is added to the message of a failure of category `authentication`.
    const LOGIN_HINT: &'static str = "";

    /// Exit codes that have a meaning of their own: the kind of failure, and a sentence for it. They count where the CLI's
    /// words tell nothing.
    const EXIT_CODES: &'static [(i32, Category, &'static str)] = &[];

    /// Called before the process starts.
    fn new(turn: &Turn) -> Self;

    /// What is written to standard input for a turn, which is then closed. By default the prompt.
    fn input(turn: &Turn) -> String {
        turn.prompt.clone()
    }

    /// Reads one JSON object and adds what it means; false if it is none of this CLI's events.
    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool;

    /// Reads whole lines of standard error, for a CLI that tells there what it tells nowhere else.
    fn read_stderr(&mut self, lines: &str, events: &mut Vec<Event>) {
        let _ = (lines, events);
    }

    /// What the CLI said on its error channel last; empty if nothing.
    fn error(&self) -> &str {
        ""
    }

    /// The kind of a part of a known event that is not known and may have been the answer; empty if there was none.
    fn unknown(&self) -> &str {
        ""
    }

    /// The verdict on a process that ended by itself with this code, for a CLI that never says that its turn is over. None: it
    /// had not finished, and the usual rule holds. Asked only after the first event.
    fn exited(&mut self, code: i32) -> Option<Outcome> {
        let _ = code;
        None
    }
}

/// The transcript of a CLI that prints JSON events. For the framing `lines`.
///
/// [`JsonReader`] finds the events, however they stand in lines. Output without a single known event is plain text, as an
/// older version or a wrapper script prints it: its last block is the answer, unless there is nothing in it but events that
/// are not known. After the first known event, text between them is a remark in the log. A turn that ended well without any
/// text counts as failed if there was something unknown that may have been the text.
#[derive(Debug)]
pub struct JsonLines<P> {
    protocol: P,
    reader: JsonReader,
    understood: bool,
    /// Some text was passed on.
    spoke: bool,
    /// The CLI said that its turn ended well, without any text until then.
    ended_empty: Option<Outcome>,
    is_resumed: bool,
    /// A remark was made of the line already.
    is_noted: bool,
    unread: Unread,
    stderr: StderrTail,
}

impl<P: Protocol> Transcript for JsonLines<P> {
    fn new(turn: &Turn) -> Self {
        Self {
            protocol: P::new(turn),
            reader: JsonReader::default(),
            understood: false,
            spoke: false,
            ended_empty: None,
            is_resumed: turn.session.is_some(),
            is_noted: false,
            unread: Unread::default(),
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
                Event::Text(_) => self.spoke = true,
                Event::Done(outcome) => {
                    self.judge(outcome);
                    let is_good = outcome.failure.is_none();
                    self.ended_empty = (is_good && self.is_empty(outcome)).then(|| outcome.clone());
                }
                _ => {}
            }
        }
        events.extend(self.second_verdict().map(Event::Done));
        events
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        let mut events = Vec::new();
        std::mem::take(&mut self.reader).finish(&mut |piece| self.piece(piece, &mut events));
        let mut outcome = at_the_end(events, || self.verdict(how));
        if let Some(failure) = &mut outcome.failure {
            by_exit_code::<P>(how, failure);
        }
        self.judge(&mut outcome);
        outcome
    }
}

impl<P: Protocol> JsonLines<P> {
    fn verdict(&mut self, how: ExitStatus) -> Outcome {
        if let ExitStatus::Code(code) = how
            && self.understood
            && let Some(outcome) = self.protocol.exited(code)
        {
            return outcome;
        }
        let error = self.protocol.error();
        let said = if error.is_empty() { self.stderr.text() } else { error };
        let mut outcome = ended(how, said, || self.clean(said));
        if let (Some(failure), false) = (&mut outcome.failure, self.understood) {
            failure.detail = self.unread.detail(std::mem::take(&mut failure.detail));
        }
        outcome
    }

    /// The verdict on a process that exited with 0 and had not said that its turn is over.
    fn clean(&self, said: &str) -> Outcome {
        if self.understood {
            return ended_without_answer(&format!("{} ended before it had finished its turn", P::NAME), said);
        }
        if let Some(answer) = self.unread.answer() {
            return finished(Some(answer));
        }
        if !self.unread.is_blank() {
            return ended_without_answer(&self.unread.message(P::NAME), said);
        }
        silent(said, self.is_resumed)
    }

    /// Has the last word on a verdict: a turn without any text is no good one if there was something unknown in it.
    fn judge(&self, outcome: &mut Outcome) {
        let is_empty = self.is_empty(outcome);
        if is_empty && outcome.failure.is_none() && self.understood {
            let part = self.protocol.unknown();
            outcome.failure =
                if part.is_empty() { self.unread.lost(P::NAME) } else { Some(lost(P::NAME, &format!("`{part}`"))) };
        }
        if is_empty && outcome.failure.is_none() {
            outcome.failure = cut_off(outcome.stop);
        }
        if let Some(failure) = &mut outcome.failure {
            failure.add_login_hint(P::LOGIN_HINT);
        }
    }

    /// Whether a turn with this outcome has no text.
    fn is_empty(&self, outcome: &Outcome) -> bool {
        !self.spoke && outcome.answer.as_ref().is_none_or(String::is_empty)
    }

    /// Another verdict on a turn that ended well and empty, if something unknown came after that may have been its text.
    fn second_verdict(&mut self) -> Option<Outcome> {
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
                    self.unread.forget_text();
                } else {
                    self.unread.object(&event, source, self.understood);
                }
            }
            Piece::Text(text) if self.understood => {
                self.unread.broken_event(text);
                if !std::mem::replace(&mut self.is_noted, !text.ends_with('\n')) && !is_glue(text) {
                    let shown: String = text.trim_end_matches('\n').chars().take(SHOWN_CHARS).collect();
                    events.push(notice(Level::Debug, format!("not an event: {shown}")));
                }
            }
            Piece::Text(text) => self.unread.text(text),
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
