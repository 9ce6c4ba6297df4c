//! Owns the transcript of a CLI that prints one JSON event a line, as far as it is the same for all of them: what counts as
//! an event, what becomes of plain text, and the verdict on a process that ended without an event for it. What the events
//! mean is a [`Protocol`].

use serde_json::Value;

use crate::{
    Category, Event, ExitStatus, LastBlock, Level, NO_OUTPUT, Outcome, StreamName, Transcript, Turn, ended, failed,
    finished, notice,
};

/// How many characters of a line are shown in a notice.
const SHOWN_CHARS: usize = 200;

/// What the events of one CLI mean.
pub trait Protocol {
    /// The CLI's name in messages.
    const NAME: &'static str;

    /// Called before the process starts.
    fn new(turn: &Turn) -> Self;

    /// Reads one JSON object and adds what it means; false if it is none of this CLI's events.
    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool;

    /// What the CLI said on its error channel last; empty if nothing.
    fn error(&self) -> &str {
        ""
    }
}

/// The transcript of a CLI that prints one JSON event a line. For the framing `lines`.
///
/// Output without a single known event is plain text, as an older version or a wrapper script prints it: its last block is
/// the answer. After the first event, lines that are no JSON are remarks in the log.
#[derive(Debug)]
pub struct JsonLines<P> {
    protocol: P,
    understood: bool,
    plain: LastBlock,
}

impl<P: Protocol> Transcript for JsonLines<P> {
    fn new(turn: &Turn) -> Self {
        Self { protocol: P::new(turn), understood: false, plain: LastBlock::default() }
    }

    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        match source {
            StreamName::Stdout => text.split('\n').for_each(|line| self.line(line, &mut events)),
            // The host keeps its end for the report of a failure.
            StreamName::Stderr => {}
        }
        events
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        let plain = self.plain.take();
        ended(how, self.protocol.error(), || match plain {
            _ if self.understood => {
                let message = format!("{} ended before it had finished its turn", P::NAME);
                failed(Category::Unknown, message, self.protocol.error())
            }
            Some(answer) => finished(Some(answer)),
            None => failed(Category::Unknown, NO_OUTPUT, ""),
        })
    }
}

impl<P: Protocol> JsonLines<P> {
    fn line(&mut self, line: &str, events: &mut Vec<Event>) {
        // Only objects are events. Parsing everything else would let a large array of plain text cost memory for nothing.
        let object = line.trim_start().starts_with('{').then(|| line.parse::<Value>().ok()).flatten();
        match object {
            Some(event) if self.protocol.read(&event, events) => {
                self.understood = true;
                self.plain = LastBlock::default();
            }
            // An event of a newer version: not known, and nothing to report.
            Some(_) if self.understood => {}
            None if self.understood && !line.trim().is_empty() => {
                let shown: String = line.chars().take(SHOWN_CHARS).collect();
                events.push(notice(Level::Debug, format!("not an event: {shown}")));
            }
            None if self.understood => {}
            Some(_) | None => self.plain.push_lines(line),
        }
    }
}
