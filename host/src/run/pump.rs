//! The longest stage of a run: from what a process says to what the client is told, and from what the plugin wants said
//! to the process.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::error::RunError;
use super::runner::Step;
use super::tail::Tail;
use super::text::Cleaner;
use crate::domain::{
    Category, Event, ExitStatus, Failure, Framing, KillReason, Level, Notice, Outcome, RunLimits, StreamName, Turn,
    UsageTally,
};
use crate::plugin::{CallError, Transcript};
use crate::process::{Child, Sign};

/// What is listened to, for whom, and until when.
pub(super) struct Listening<'a> {
    pub(super) turn: &'a Turn,
    pub(super) framing: Framing,
    pub(super) limits: &'a RunLimits,
    pub(super) timeout: Duration,
    pub(super) steps: &'a mpsc::Sender<Step>,
    pub(super) stopping: &'a CancellationToken,
}

/// How the listening ended.
pub(super) struct Finish {
    pub(super) outcome: Outcome,
    pub(super) tally: UsageTally,
    /// The length of the answer in characters.
    pub(super) answer_chars: usize,
    /// The process is not to go on: nobody listens to it any more.
    pub(super) unwanted: bool,
}

/// Listens to a process until its turn is over, its time is up, or nobody wants to know any more.
pub(super) async fn listen(listening: Listening<'_>, transcript: Transcript, child: &mut Child) -> Finish {
    let mut pump = Pump::new(&listening, transcript, child);
    let result = tokio::select! {
        result = pump.listen(listening.turn) => Ok(result),
        () = sleep(listening.timeout) => Err(KillReason::Timeout),
        () = listening.steps.closed() => Err(KillReason::Cancelled),
        () = listening.stopping.cancelled() => Err(KillReason::Shutdown),
    };
    let (outcome, unwanted) = match result {
        Ok(Ok(outcome)) => (outcome, false),
        // What the process still says, nobody could understand any more.
        Ok(Err(error)) => (RunError::Plugin(error).into_failure().into(), true),
        Err(reason) => (pump.interrupted(reason, listening.timeout).await, true),
    };
    pump.finish(outcome, unwanted)
}

struct Pump<'a> {
    child: &'a mut Child,
    /// Taken when the process has ended: it is asked about the end once.
    transcript: Option<Transcript>,
    framing: Framing,
    stdout: Cleaner,
    stderr: Cleaner,
    tail: Tail,
    steps: &'a mpsc::Sender<Step>,
    tally: UsageTally,
    answer_chars: usize,
    /// What the CLI itself said of the end of the turn.
    verdict: Option<Outcome>,
}

impl<'a> Pump<'a> {
    fn new(listening: &Listening<'a>, transcript: Transcript, child: &'a mut Child) -> Self {
        let RunLimits { line, stderr, .. } = *listening.limits;
        Self {
            child,
            transcript: Some(transcript),
            framing: listening.framing,
            stdout: Cleaner::new(listening.framing, line),
            stderr: Cleaner::new(listening.framing, line),
            tail: Tail::new(stderr),
            steps: listening.steps,
            tally: UsageTally::default(),
            answer_chars: 0,
            verdict: None,
        }
    }

    async fn listen(&mut self, turn: &Turn) -> Result<Outcome, CallError> {
        if let Some(transcript) = &mut self.transcript {
            let events = transcript.begin(turn).await?;
            self.take(events).await;
        }
        loop {
            if let Some(verdict) = self.verdict.take() {
                return Ok(verdict);
            }
            match self.child.next().await {
                Sign::Output(source, bytes) => {
                    let text = self.cleaner(source).push(&bytes);
                    self.hear(source, text).await?;
                }
                Sign::Exited(status) => return self.exited(status).await,
            }
        }
    }

    /// The process has ended: what was held back is heard, and then the plugin judges, unless the CLI had.
    async fn exited(&mut self, status: ExitStatus) -> Result<Outcome, CallError> {
        for source in [StreamName::Stderr, StreamName::Stdout] {
            let text = self.cleaner(source).finish();
            self.hear(source, text).await?;
        }
        match (self.verdict.take(), self.transcript.take()) {
            (Some(verdict), _) => Ok(verdict),
            (None, Some(transcript)) => transcript.exit(status).await,
            (None, None) => Ok(Failure::new(Category::Unknown, "CLI failed", "").into()),
        }
    }

    fn cleaner(&mut self, source: StreamName) -> &mut Cleaner {
        match source {
            StreamName::Stdout => &mut self.stdout,
            StreamName::Stderr => &mut self.stderr,
        }
    }

    async fn hear(&mut self, source: StreamName, text: Option<String>) -> Result<(), CallError> {
        let (Some(text), Some(transcript)) = (text, &mut self.transcript) else { return Ok(()) };
        if source == StreamName::Stderr {
            self.tail.push(&text);
            if self.framing == Framing::Lines {
                self.tail.push("\n");
            }
        }
        let events = transcript.output(source, &text).await?;
        self.take(events).await;
        Ok(())
    }

    /// What comes after the end of the turn is no part of it any more.
    async fn take(&mut self, events: Vec<Event>) {
        for event in events {
            if self.verdict.is_some() {
                return;
            }
            match event {
                Event::Reply(text) => self.child.write(text),
                Event::EndInput => self.child.close_input(),
                Event::Usage(report) => self.tally.add(report),
                Event::Notice(notice) => log(&notice),
                Event::Done(outcome) => self.verdict = Some(outcome),
                Event::Text(_)
                | Event::TextBreak
                | Event::Reasoning(_)
                | Event::ToolCall(_)
                | Event::ToolResult(_)
                | Event::Session(_)
                | Event::Extra(_) => self.tell(event).await,
            }
        }
    }

    async fn tell(&mut self, event: Event) {
        if let Event::Text(text) = &event {
            self.answer_chars += text.chars().count();
        }
        // A client that is gone ends the run in another place.
        let _gone = self.steps.send(Step::Event(event)).await;
    }

    /// The host ended the run: it knows why, the plugin may know what there was of an answer.
    async fn interrupted(&mut self, reason: KillReason, timeout: Duration) -> Outcome {
        let answer = match self.transcript.take() {
            Some(transcript) => match transcript.exit(ExitStatus::Killed(reason)).await {
                Ok(Outcome::Finished { answer, .. } | Outcome::Failed { answer, .. }) => answer,
                // It was interrupted in the middle of a call.
                Err(_) => None,
            },
            None => None,
        };
        Outcome::Failed { failure: interruption(reason, timeout), answer }
    }

    fn finish(mut self, outcome: Outcome, unwanted: bool) -> Finish {
        let cut = self.stdout.cut_lines() + self.stderr.cut_lines();
        if cut > 0 {
            tracing::warn!(lines = cut, "lines over `limits.line` were cut");
        }
        let (tally, mut answer_chars) = (self.tally, self.answer_chars);
        let mut outcome = outcome;
        match &mut outcome {
            Outcome::Finished { answer, .. } => {
                if answer_chars == 0 {
                    answer_chars = answer.as_deref().map_or(0, |answer| answer.chars().count());
                }
            }
            Outcome::Failed { failure, .. } => {
                if !failure.detail.is_empty() {
                    self.tail.replace(&failure.detail);
                }
                failure.detail = self.tail.into_text();
            }
        }
        Finish { outcome, tally, answer_chars, unwanted }
    }
}

fn log(notice: &Notice) {
    match notice.level {
        Level::Debug => tracing::debug!(message = notice.message, "CLI"),
        Level::Info => tracing::info!(message = notice.message, "CLI"),
        Level::Warning => tracing::warn!(message = notice.message, "CLI"),
    }
}

fn interruption(reason: KillReason, timeout: Duration) -> Failure {
    match reason {
        KillReason::Cancelled => Failure::new(Category::Unknown, "the run was cancelled", ""),
        KillReason::Timeout => {
            let time = humantime::format_duration(timeout);
            let message =
                format!("the run took longer than {time} and was ended: raise `timeout` of the model if it needs more");
            Failure::new(Category::Timeout, message, "")
        }
        KillReason::Idle => Failure::new(Category::Timeout, "the CLI said nothing for too long", ""),
        KillReason::OutputLimit => Failure::new(Category::Unknown, "the CLI said too much", ""),
        KillReason::Shutdown => Failure::new(Category::Server, "the proxy is stopping", ""),
    }
}
