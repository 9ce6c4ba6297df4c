//! Owns the transcript of a CLI that prints one JSON event a line, as far as it is the same for all of them: what counts as
//! an event, what becomes of plain text, and the verdict on a process that ended without an event for it. What the events
//! mean is a [`Protocol`].

use serde_json::Value;

use crate::document::Document;
use crate::{
    Category, Event, ExitStatus, Failure, LastBlock, Level, NO_OUTPUT, Outcome, StderrTail, StreamName, Transcript,
    Turn, ended, ended_without_answer, finished, notice,
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

    /// The verdict on a process that ended by itself with this code, for a CLI that never says that its turn is over. None: it
    /// had not finished, and the usual rule holds. Asked only after the first event.
    fn exited(&mut self, code: i32) -> Option<Outcome> {
        let _ = code;
        None
    }
}

/// The transcript of a CLI that prints one JSON event a line. For the framing `lines`.
///
/// Events may also stand in an array, and one may go over several lines, as CLIs print them in their other JSON mode. Output
/// without a single known event is plain text, as an older version or a wrapper script prints it: its last block is the
/// answer. After the first event, lines that are no JSON are remarks in the log.
#[derive(Debug)]
pub struct JsonLines<P> {
    protocol: P,
    understood: bool,
    plain: LastBlock,
    document: Document,
    stderr: StderrTail,
}

impl<P: Protocol> Transcript for JsonLines<P> {
    fn new(turn: &Turn) -> Self {
        Self {
            protocol: P::new(turn),
            understood: false,
            plain: LastBlock::default(),
            document: Document::default(),
            stderr: StderrTail::default(),
        }
    }

    fn begin(&mut self, turn: &Turn) -> Vec<Event> {
        vec![Event::Reply(P::input(turn)), Event::EndInput]
    }

    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        match source {
            StreamName::Stdout => text.split('\n').for_each(|line| self.line(line, &mut events)),
            StreamName::Stderr => {
                self.stderr.push_lines(text);
                self.protocol.read_stderr(text, &mut events);
            }
        }
        for event in &mut events {
            if let Event::Done(Outcome { failure: Some(failure), .. }) = event {
                failure.add_login_hint(P::LOGIN_HINT);
            }
        }
        events
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        let mut outcome = self.verdict(how);
        if let Some(failure) = &mut outcome.failure {
            by_exit_code::<P>(how, failure);
            failure.add_login_hint(P::LOGIN_HINT);
        }
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
        let plain = self.plain.take();
        let error = self.protocol.error();
        let said = if error.is_empty() { self.stderr.text() } else { error };
        ended(how, said, || match plain {
            _ if self.understood => {
                ended_without_answer(&format!("{} ended before it had finished its turn", P::NAME), said)
            }
            Some(answer) => finished(Some(answer)),
            None => ended_without_answer(NO_OUTPUT, said),
        })
    }

    fn line(&mut self, line: &str, events: &mut Vec<Event>) {
        // Only objects are events. Parsing everything else would let a large array of plain text cost memory for nothing.
        // An event may be the item of an array over several lines.
        let item = line.trim().trim_end_matches(',');
        let object = item.starts_with('{').then(|| item.parse::<Value>().ok()).flatten();
        match object {
            Some(event) if self.protocol.read(&event, events) => self.understand(),
            // An event of a newer version: not known, and nothing to report.
            Some(_) if self.understood => {}
            None if self.understood && !matches!(item, "" | "]") => {
                let shown: String = line.chars().take(SHOWN_CHARS).collect();
                events.push(notice(Level::Debug, format!("not an event: {shown}")));
            }
            None if self.understood => {}
            Some(_) | None => self.unknown(line, events),
        }
    }

    /// A line before the first event. It may be one of several that are an event together.
    fn unknown(&mut self, line: &str, events: &mut Vec<Event>) {
        for event in self.document.push(line) {
            if self.protocol.read(&event, events) {
                self.understand();
            }
        }
        if !self.understood {
            self.plain.push_lines(line);
        }
    }

    fn understand(&mut self) {
        self.understood = true;
        self.plain = LastBlock::default();
        self.document = Document::default();
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
