//! Both streams of a process as text, and the end of its standard error. What the text means is the reader's.

use std::time::Duration;

use agentbay_domain::{Framing, RunLimits, StreamName};
use tokio::time::Instant;

use super::text::{Cleaner, Tail};

/// What is heard of a process.
#[derive(Debug)]
pub(super) struct Streams {
    stdout: Heard,
    stderr: Heard,
    framing: Framing,
    /// The end of standard error, for the report of a failure.
    tail: Tail,
    /// How long a line that is open waits for its end.
    open_line: Duration,
}

#[derive(Debug)]
struct Heard {
    cleaner: Cleaner,
    last: Instant,
}

impl Streams {
    pub(super) fn new(framing: Framing, limits: &RunLimits) -> Self {
        let heard = || Heard { cleaner: Cleaner::new(framing, limits.line), last: Instant::now() };
        let tail = Tail::new(limits.stderr);
        Self { stdout: heard(), stderr: heard(), framing, tail, open_line: limits.open_line }
    }

    /// Takes bytes as they come, and gives what can be read of them.
    pub(super) fn push(&mut self, source: StreamName, bytes: &[u8]) -> Option<String> {
        let heard = self.of(source);
        heard.last = Instant::now();
        let text = heard.cleaner.push(bytes);
        self.kept(source, text)
    }

    /// When an open line is to be handed over if nothing comes until then.
    pub(super) fn due(&self) -> Option<Instant> {
        let held = [&self.stdout, &self.stderr].into_iter().filter(|heard| heard.cleaner.holds());
        held.map(|heard| heard.last + self.open_line).min()
    }

    /// What a stream has held back for long enough.
    pub(super) fn flush(&mut self, source: StreamName) -> Option<String> {
        let open_line = self.open_line;
        let heard = self.of(source);
        let text = if heard.last + open_line <= Instant::now() { heard.cleaner.flush() } else { None };
        self.kept(source, text)
    }

    /// A stream has ended: what it still held back.
    pub(super) fn finish(&mut self, source: StreamName) -> Option<String> {
        let text = self.of(source).cleaner.finish();
        self.kept(source, text)
    }

    /// How many lines were longer than allowed.
    pub(super) fn cut_lines(&self) -> u64 {
        self.stdout.cleaner.cut_lines() + self.stderr.cleaner.cut_lines()
    }

    /// The end of standard error.
    pub(super) fn end_of_stderr(&self) -> String {
        self.tail.text()
    }

    fn of(&mut self, source: StreamName) -> &mut Heard {
        match source {
            StreamName::Stdout => &mut self.stdout,
            StreamName::Stderr => &mut self.stderr,
        }
    }

    fn kept(&mut self, source: StreamName, text: Option<String>) -> Option<String> {
        if let (StreamName::Stderr, Some(text)) = (source, &text) {
            self.tail.push(text);
            if self.framing == Framing::Lines {
                self.tail.push("\n");
            }
        }
        text
    }
}
