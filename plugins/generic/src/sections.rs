//! Owns which lines of plain text are the answer: those between `begin` and `end` that no `skip` fits. They are passed on
//! as they come (`answer = "whole"`), or the last block of them is given at the end (`last-block`).

use agentbay_plugin_sdk::{Event, LastBlock};

use crate::options::{Answer, Lines};
use crate::pattern::{LINE_BYTES, Pattern, any_fits};

/// How many line feeds are held back, so that no output makes the plugin run out of memory.
const HELD_LINE_FEEDS: usize = 64 * 1024;

/// The lines so far.
#[derive(Debug)]
pub(crate) struct Sections {
    lines: Lines,
    /// Lines are part of the answer.
    is_open: bool,
    /// The beginning of a line of which it is not known whether a pattern fits it.
    held: String,
    /// The line whose end has not come fits no pattern.
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

    /// Takes more of the text, cut anywhere.
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

    /// Nothing more comes. Gives the answer, if none of it was passed on.
    pub(crate) fn end(&mut self) -> Option<String> {
        let spoke = self.spoke();
        let mut events = Vec::new();
        self.end_line(&mut events);
        match (&mut self.kept, events.pop()) {
            (Kept::LastBlock(block), _) => block.take(),
            (Kept::Whole(_), Some(Event::Text(text))) if !spoke => Some(text),
            (Kept::Whole(_), _) => None,
        }
    }

    /// Whether text was passed on already.
    pub(crate) fn spoke(&self) -> bool {
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
                Kept::Whole(whole) => whole.part(),
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
    /// Whether a line that begins like this may still come to fit a pattern.
    fn may_fit(&self, beginning: &str) -> bool {
        let all = [&self.begin, &self.end, &self.skip, &self.fail_if];
        all.into_iter().flatten().any(|pattern: &Pattern| pattern.may_fit(beginning))
    }
}

/// Text that is passed on, but for the line feeds around each section of it.
#[derive(Debug, Default)]
struct Whole {
    line_feeds: usize,
    /// Text of this section came.
    came: bool,
    /// Text of any section was passed on.
    passed: bool,
}

impl Whole {
    /// What comes next is another section.
    fn part(&mut self) {
        self.came = false;
        self.line_feeds = 0;
    }

    /// Passes text on, and holds line feeds back until something follows them. Those before the first text are dropped.
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
