//! The lines of plain text that are the answer: those between `begin` and `end` that no `skip` matches. They are passed on as they
//! arrive (`answer = "whole"`), or their last block is returned at the end (`last-block`).

use agentbay_plugin_sdk::{Event, LastBlock};

use crate::options::{Answer, Lines};
use crate::pattern::{LINE_BYTES, Pattern, any_fits};

/// Maximum number of line feeds held back, which bounds the memory.
const HELD_LINE_FEEDS: usize = 64 * 1024;

/// The state after the lines so far.
#[derive(Debug)]
pub(crate) struct Sections {
    lines: Lines,
    /// The current lines are part of the answer.
    is_open: bool,
    /// The start of a line that may still match a pattern.
    held: String,
    /// The incomplete line matches no pattern.
    is_text: bool,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    LastBlock(LastBlock),
    Whole(Whole),
}

impl Sections {
    pub(crate) fn new(lines: Lines, answer: Answer) -> Self {
        let kept = match answer {
            Answer::LastBlock => Kept::LastBlock(LastBlock::default()),
            Answer::Whole => Kept::Whole(Whole::default()),
        };
        Self { is_open: lines.begin.is_empty(), lines, held: String::new(), is_text: false, kept }
    }

    /// Reads more text, split anywhere.
    pub(crate) fn push(&mut self, text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        for (count, piece) in text.split('\n').enumerate() {
            if count > 0 {
                self.end_line(&mut events);
            }
            self.add(piece, &mut events);
        }
        events
    }

    /// Ends the output. Returns the answer, if none of it was emitted.
    pub(crate) fn end(&mut self) -> Option<String> {
        let had_text = self.has_text();
        let mut events = Vec::new();
        self.end_line(&mut events);
        match (&mut self.kept, events.pop()) {
            (Kept::LastBlock(block), _) => block.take(),
            (Kept::Whole(_), Some(Event::Text(text))) if !had_text => Some(text),
            (Kept::Whole(_), _) => None,
        }
    }

    /// Whether text was emitted.
    pub(crate) fn has_text(&self) -> bool {
        matches!(&self.kept, Kept::Whole(whole) if whole.passed)
    }

    fn add(&mut self, piece: &str, events: &mut Vec<Event>) {
        if !self.is_text {
            self.held.push_str(piece);
            let is_known = self.held.len() > LINE_BYTES || !self.lines.may_fit(&self.held);
            if !is_known {
                return;
            }
            self.is_text = true;
            let held = std::mem::take(&mut self.held);
            self.keep(&held, events);
        } else {
            self.keep(piece, events);
        }
    }

    fn end_line(&mut self, events: &mut Vec<Event>) {
        let line = std::mem::take(&mut self.held);
        if std::mem::take(&mut self.is_text) {
            self.keep("\n", events);
        } else if any_fits(&self.lines.begin, &line) {
            self.is_open = true;
            match &mut self.kept {
                Kept::LastBlock(block) => block.push("\n\n"),
                Kept::Whole(whole) => whole.start_section(),
            }
        } else if any_fits(&self.lines.end, &line) {
            self.is_open = false;
        } else if !any_fits(&self.lines.skip, &line) && !any_fits(&self.lines.fail_if, &line) {
            self.keep(&(line + "\n"), events);
        }
    }

    fn keep(&mut self, text: &str, events: &mut Vec<Event>) {
        match &mut self.kept {
            _ if !self.is_open => {}
            Kept::LastBlock(block) => block.push(text),
            Kept::Whole(whole) => whole.push(text, events),
        }
    }
}

impl Lines {
    /// Whether a line that starts like this may still match a pattern.
    fn may_fit(&self, beginning: &str) -> bool {
        let all = [&self.begin, &self.end, &self.skip, &self.fail_if];
        all.into_iter().flatten().any(|pattern: &Pattern| pattern.may_fit(beginning))
    }
}

/// Text that is emitted, without the line feeds around each section.
#[derive(Debug, Default)]
struct Whole {
    line_feeds: usize,
    /// The section has text.
    came: bool,
    /// Text of any section was emitted.
    passed: bool,
}

impl Whole {
    /// Starts another section.
    fn start_section(&mut self) {
        self.came = false;
        self.line_feeds = 0;
    }

    /// Emits text, and holds line feeds back until more text follows. Those before the first text are dropped.
    fn push(&mut self, text: &str, events: &mut Vec<Event>) {
        let text = if self.came { text } else { text.trim_start_matches('\n') };
        let body = text.trim_end_matches('\n');
        let held = std::mem::replace(&mut self.line_feeds, text.len() - body.len());
        if body.is_empty() {
            self.line_feeds += held;
            if self.line_feeds > HELD_LINE_FEEDS {
                events.push(Event::Text("\n".repeat(std::mem::take(&mut self.line_feeds))));
            }
            return;
        }
        if self.passed && !self.came {
            events.push(Event::TextBreak);
        }
        self.came = true;
        self.passed = true;
        let text = "\n".repeat(held) + body;
        match events.last_mut() {
            Some(Event::Text(before)) => before.push_str(&text),
            _ => events.push(Event::Text(text)),
        }
    }
}
