//! Owns the choice between the two modes of a CLI: one event a line, or a dialogue. The first is what it is made for; the
//! second is for turns whose prompt would not arrive as it is in the first.

use super::{Dialect, Dialogue};
use crate::{Event, ExitStatus, JsonLines, Outcome, Protocol, StreamName, Transcript, Turn};

/// The transcript of a CLI with both modes. The plan has to choose by [`Dialect::needs_dialogue`] too.
#[derive(Debug)]
pub enum EitherWay<P> {
    /// One event a line.
    Lines(Box<JsonLines<P>>),
    /// A dialogue.
    Dialogue(Box<Dialogue<P>>),
}

impl<P: Protocol + Dialect> Transcript for EitherWay<P> {
    fn new(turn: &Turn) -> Self {
        if P::needs_dialogue(turn) {
            Self::Dialogue(Box::new(Dialogue::new(turn)))
        } else {
            Self::Lines(Box::new(JsonLines::new(turn)))
        }
    }

    fn begin(&mut self, turn: &Turn) -> Vec<Event> {
        match self {
            Self::Lines(lines) => lines.begin(turn),
            Self::Dialogue(dialogue) => dialogue.begin(turn),
        }
    }

    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event> {
        match self {
            Self::Lines(lines) => lines.output(source, text),
            Self::Dialogue(dialogue) => dialogue.output(source, text),
        }
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        match self {
            Self::Lines(lines) => lines.exit(how),
            Self::Dialogue(dialogue) => dialogue.exit(how),
        }
    }
}
