//! The two streams of a process as text, and the end of its standard error. The reader interprets the text.

use std::time::Duration;

use agentbay_domain::{Framing, RunLimits, StreamName};
use tokio::time::Instant;

use super::text::{Cleaner, Tail};

/// The streams of a process.
#[derive(Debug)]
pub(super) struct Streams {
    stdout: Stream,
    stderr: Stream,
    framing: Framing,
    /// The end of standard error, for the report of a failure.
    tail: Tail,
    /// How long a line waits for its end.
    partial_line_timeout: Duration,
}

#[derive(Debug)]
struct Stream {
    cleaner: Cleaner,
    last: Instant,
}

impl Streams {
    pub(super) fn new(framing: Framing, limits: &RunLimits) -> Self {
        let stream = || Stream { cleaner: Cleaner::new(framing, limits.output_line), last: Instant::now() };
        let tail = Tail::new(limits.stderr_tail);
        Self { stdout: stream(), stderr: stream(), framing, tail, partial_line_timeout: limits.partial_line_timeout }
    }

    /// Takes bytes and returns the text that is complete.
    pub(super) fn push(&mut self, source: StreamName, bytes: &[u8]) -> Option<String> {
        let stream = self.of(source);
        stream.last = Instant::now();
        let text = stream.cleaner.push(bytes);
        self.kept(source, text)
    }

    /// When an open line is passed on, if nothing arrives until then.
    pub(super) fn due(&self) -> Option<Instant> {
        let held = [&self.stdout, &self.stderr].into_iter().filter(|stream| stream.cleaner.holds());
        held.map(|stream| stream.last + self.partial_line_timeout).min()
    }

    /// Returns what a stream has held back for long enough.
    pub(super) fn flush(&mut self, source: StreamName) -> Option<String> {
        let partial_line_timeout = self.partial_line_timeout;
        let stream = self.of(source);
        let text = if stream.last + partial_line_timeout <= Instant::now() { stream.cleaner.flush() } else { None };
        self.kept(source, text)
    }

    /// Returns what a stream held back when it ended.
    pub(super) fn finish(&mut self, source: StreamName) -> Option<String> {
        let text = self.of(source).cleaner.finish();
        self.kept(source, text)
    }

    /// The number of lines over the limit.
    pub(super) fn cut_lines(&self) -> u64 {
        self.stdout.cleaner.cut_lines() + self.stderr.cleaner.cut_lines()
    }

    /// The end of standard error.
    pub(super) fn end_of_stderr(&self) -> String {
        self.tail.text()
    }

    fn of(&mut self, source: StreamName) -> &mut Stream {
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
