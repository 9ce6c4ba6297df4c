//! The outcome of a run for every output format, and the common parts: `fail_if`, the exit status, standard error.
//!
//! - `text`, `answer = "last-block"`: nothing is emitted before the end, because another block may follow.
//! - `text`, `answer = "whole"`: emitted as it arrives; see `sections.rs`.
//! - `json`, `stream-json`: emitted value by value; see `stream.rs`.
//!
//! In every format a successful run without output has the answer `No output from CLI.`.

use agentbay_plugin_sdk::{
    Event, ExitStatus, NO_OUTPUT, Outcome, StderrTail, StreamName, Transcript, Turn, classify, exit_outcome, finished,
};

use crate::options::{Format, Prompt, Settings};
use crate::pattern::Watch;
use crate::sections::Sections;
use crate::stream::Stream;

/// The transcript of one process.
#[derive(Debug)]
pub struct GenericTranscript {
    prompt: Prompt,
    watch: Watch,
    reader: Reader,
    stderr: StderrTail,
    /// A line matched `fail_if`, so the run has failed.
    failed: Option<Outcome>,
}

#[derive(Debug)]
enum Reader {
    Text(Sections),
    Json(Box<Stream>),
}

impl Transcript for GenericTranscript {
    fn new(turn: &Turn) -> Self {
        // Invalid options do not get here: `prepare` refused them.
        let settings = Settings::read(turn).unwrap_or_default();
        let watch = Watch::new(settings.lines.fail_if.clone());
        let reader = match settings.format {
            Format::Json | Format::StreamJson => Reader::Json(Box::new(Stream::new(&settings))),
            Format::Text => Reader::Text(Sections::new(settings.lines, settings.answer)),
        };
        Self { prompt: settings.prompt, watch, reader, stderr: StderrTail::default(), failed: None }
    }

    fn begin(&mut self, turn: &Turn) -> Vec<Event> {
        match self.prompt {
            Prompt::Stdin => vec![Event::Reply(turn.prompt.clone()), Event::EndInput],
            Prompt::Arg | Prompt::File => vec![Event::EndInput],
        }
    }

    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event> {
        match source {
            StreamName::Stdout => self.stdout(text),
            StreamName::Stderr => {
                self.stderr.push(text);
                Vec::new()
            }
        }
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        if let Some(outcome) = self.failed.take() {
            return outcome;
        }
        if let Some(line) = self.watch.end() {
            return classify::failure(&line).into();
        }
        let fault = match &self.reader {
            Reader::Json(stream) => stream.fault().cloned(),
            Reader::Text(_) => None,
        };
        match (how, fault) {
            (ExitStatus::Code(0), _) => self.reader.end(),
            (ExitStatus::Code(_) | ExitStatus::Signal(_), Some(fault)) => fault.failure().into(),
            (ExitStatus::Killed(_), Some(fault)) => exit_outcome(how, &fault.failure().detail, || finished(None)),
            (_, None) => {
                let mut outcome = exit_outcome(how, self.stderr.text(), || finished(None));
                // The output is not an error report: it is shown, but not classified.
                if let Some(failure) = outcome.failure.as_mut().filter(|failure| failure.detail.is_empty()) {
                    failure.detail = self.reader.unrecognized();
                }
                outcome
            }
        }
    }
}

impl GenericTranscript {
    fn stdout(&mut self, text: &str) -> Vec<Event> {
        if self.failed.is_some() {
            return Vec::new();
        }
        let Some((end, line)) = self.watch.push(text) else {
            return self.reader.push(text);
        };
        let mut events = self.reader.push(&text[..end]);
        let outcome = Outcome::from(classify::failure(&line));
        self.failed = Some(outcome.clone());
        events.push(Event::Done(outcome));
        events
    }
}

impl Reader {
    fn push(&mut self, text: &str) -> Vec<Event> {
        match self {
            Self::Text(sections) => sections.push(text),
            Self::Json(stream) => stream.push(text),
        }
    }

    /// The outcome of a process that exited with 0.
    fn end(&mut self) -> Outcome {
        match self {
            Self::Json(stream) => stream.end(),
            Self::Text(sections) => {
                let answer = sections.end();
                finished(if sections.has_text() { None } else { Some(answer.unwrap_or_else(|| NO_OUTPUT.to_owned())) })
            }
        }
    }

    /// The output of a run of which nothing was emitted.
    fn unrecognized(&mut self) -> String {
        match self {
            Self::Json(stream) => stream.unrecognized(),
            Self::Text(sections) => sections.end().unwrap_or_default(),
        }
    }
}
