//! The reader of a process: its plugin or, once that has failed, a fixed rule.

use agentbay_domain::{Category, Event, ExitStatus, Failure, Framing, Outcome, StopReason, StreamName, Turn};
use agentbay_plugin_host::{CallError, Transcript};

/// What turns the output of a process into events.
#[derive(Debug)]
pub(super) enum Reader {
    /// Its plugin.
    Plugin(Transcript),
    /// The rule for a process whose plugin has failed.
    Raw(Raw),
}

/// The rule that standard output is the answer, and the exit code the outcome.
#[derive(Debug)]
pub(super) struct Raw {
    framing: Framing,
    /// Why the plugin no longer reads.
    failed: CallError,
    /// The rule has read a line. The first one begins a new paragraph.
    has_begun: bool,
}

impl Reader {
    /// The rule, in place of a plugin that has failed.
    pub(super) fn raw(framing: Framing, failed: CallError) -> Self {
        Self::Raw(Raw { framing, failed, has_begun: false })
    }

    /// A turn begins.
    pub(super) async fn begin(&mut self, turn: &Turn) -> Result<Vec<Event>, CallError> {
        match self {
            Self::Plugin(transcript) => transcript.begin(turn).await,
            Self::Raw(_) => Ok(Vec::new()),
        }
    }

    /// The process printed something.
    pub(super) async fn output(&mut self, source: StreamName, text: &str) -> Result<Vec<Event>, CallError> {
        match self {
            Self::Plugin(transcript) => transcript.output(source, text.to_owned()).await,
            Self::Raw(raw) => Ok(raw.output(source, text)),
        }
    }

    /// The process ended by itself, with or without an answer.
    pub(super) async fn exit(self, status: ExitStatus, has_answer: bool) -> Result<Outcome, CallError> {
        match self {
            Self::Plugin(transcript) => transcript.exit(status).await,
            Self::Raw(raw) => Ok(raw.exit(status, has_answer)),
        }
    }

    /// The part of an answer that was not sent when the host ended the process.
    pub(super) async fn rest(self, status: ExitStatus) -> Option<String> {
        let Self::Plugin(transcript) = self else { return None };
        match transcript.exit(status).await {
            Ok(Outcome::Finished { answer, .. } | Outcome::Failed { answer, .. }) => answer,
            // It was interrupted in the middle of a call.
            Err(_) => None,
        }
    }
}

impl Raw {
    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event> {
        match (source, self.framing) {
            // Its end is kept for the report of a failure.
            (StreamName::Stderr, _) => Vec::new(),
            (StreamName::Stdout, Framing::Text) => vec![Event::Text(text.to_owned())],
            (StreamName::Stdout, Framing::Lines) => {
                let lines = Event::Text(format!("{text}\n"));
                if std::mem::replace(&mut self.has_begun, true) { vec![lines] } else { vec![Event::TextBreak, lines] }
            }
        }
    }

    fn exit(self, status: ExitStatus, has_answer: bool) -> Outcome {
        match status {
            ExitStatus::Code(0) if has_answer => Outcome::Finished { stop: StopReason::EndTurn, answer: None },
            ExitStatus::Code(0) => Failure::new(Category::Unknown, self.failed.to_string(), "").into(),
            ExitStatus::Code(_) | ExitStatus::Signal(_) | ExitStatus::Killed(_) => {
                Failure::new(Category::Unknown, "CLI failed", "").into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(framing: Framing) -> Raw {
        Raw { framing, failed: CallError::Unusable, has_begun: false }
    }

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    #[test]
    fn standard_output_is_the_answer() {
        let mut pieces = raw(Framing::Text);
        assert_eq!(pieces.output(StreamName::Stdout, "a b"), [text("a b")]);
        assert_eq!(pieces.output(StreamName::Stderr, "oops"), []);
        let mut lines = raw(Framing::Lines);
        assert_eq!(lines.output(StreamName::Stdout, "{}\n[]"), [Event::TextBreak, text("{}\n[]\n")]);
        assert_eq!(lines.output(StreamName::Stdout, "end"), [text("end\n")]);
    }

    #[test]
    fn the_exit_code_is_the_outcome_and_silence_is_not_an_answer() {
        let exit = |status, has_answer| raw(Framing::Text).exit(status, has_answer);
        assert_eq!(exit(ExitStatus::Code(0), true), Outcome::Finished { stop: StopReason::EndTurn, answer: None });
        let failed = |message: &str| Outcome::from(Failure::new(Category::Unknown, message, ""));
        assert_eq!(exit(ExitStatus::Code(0), false), failed("the plugin instance is no longer usable"));
        for status in [ExitStatus::Code(1), ExitStatus::Signal(9)] {
            assert_eq!(exit(status, true), failed("CLI failed"));
        }
    }
}
