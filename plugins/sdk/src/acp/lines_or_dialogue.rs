//! The choice between the two modes of a CLI: one event a line, or a dialogue. The first is the CLI's main mode; the second is for
//! prompts that the first would change.

use super::{Dialect, Dialogue};
use crate::{Event, ExitStatus, JsonLines, Outcome, Protocol, StreamName, Transcript, Turn};

/// The transcript of a CLI with both modes. The plan has to make the same choice with [`Dialect::needs_dialogue`].
#[derive(Debug)]
pub enum LinesOrDialogue<P> {
    /// One event a line.
    Lines(Box<JsonLines<P>>),
    /// A dialogue.
    Dialogue(Box<Dialogue<P>>),
}

impl<P: Protocol + Dialect> Transcript for LinesOrDialogue<P> {
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
