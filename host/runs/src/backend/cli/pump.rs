//! The third step of an attempt, and its longest: from what a process prints to what the client receives, and from what the
//! plugin replies to the process.

use std::time::Duration;

use agentbay_domain::{
    Category, CliTarget, Event, ExitStatus, Failure, Framing, KillReason, Model, Outcome, PluginId, SessionId,
    StopReason, StreamName, Turn, UsageTally,
};
use agentbay_os::process::{Child, ChildEvent};
use agentbay_plugin_host::CallError;
use tokio::time::{Instant, timeout, timeout_at};

use super::Cleanup;
use super::before::Before;
use super::error::CliError;
use super::notices::Notices;
use super::prepare::Reading;
use super::process::AfterTurn;
use super::reader::Reader;
use super::replies::Replies;
use super::streams::Streams;
use super::system::{self, End};
use super::text::Tail;
use crate::backend::Attempt;
use crate::delivery::{Delivered, Delivery};
use crate::queue::Slot;
use crate::scope::interruption;
use crate::step::{PluginFailed, Step};

/// How a turn ended.
pub(super) struct TurnResult {
    pub(super) outcome: Outcome,
    pub(super) tally: UsageTally,
    /// The length of the answer in characters.
    pub(super) answer_chars: usize,
    /// Another attempt can follow: no part of the answer was sent, and one is still wanted.
    pub(super) may_retry: bool,
    pub(super) after: AfterTurn,
}

/// Why reading ended before the process or its turn did.
enum Cut {
    /// The plugin failed.
    Plugin(CallError),
    /// The process has to be killed.
    Kill(KillReason),
    /// The answer is too long to be delivered.
    TooLong,
}

impl From<CallError> for Cut {
    fn from(error: CallError) -> Self {
        Self::Plugin(error)
    }
}

/// Reads a process until its turn is over, its time is up, or the run is no longer wanted.
pub(super) async fn converse(
    attempt: &Attempt<'_>,
    Cleanup { slot, before, .. }: &mut Cleanup,
    target: &CliTarget,
    turn: &Turn,
    reading: Reading,
    child: &mut Child,
) -> TurnResult {
    let Reading { framing, transcript, max_notices } = reading;
    let mut pump = Pump {
        attempt,
        slot,
        before,
        driver: &target.driver,
        child,
        reader: Some(Reader::Plugin(transcript)),
        framing,
        streams: Streams::new(framing, &attempt.model.limits),
        notices: Notices::new(max_notices),
        replies: Replies::new(target.show),
        delivery: attempt.delivery(),
        printed: 0,
        may_retry: true,
        used_a_tool: false,
        tally: UsageTally::default(),
        answer_chars: 0,
        verdict: None,
        exit: None,
        settles: None,
    };
    let result = tokio::select! {
        // A run that is no longer wanted does not send its CLI the prompt.
        biased;
        reason = attempt.scope.ended_or(attempt.deadline) => Err(Cut::Kill(reason)),
        result = pump.read(turn) => result,
    };
    let (outcome, is_unwanted) = match result {
        Ok(outcome) => (outcome, false),
        // Nothing can read what the process still prints.
        Err(Cut::Plugin(error)) => (CliError::Plugin(error).into_failure().into(), true),
        Err(Cut::Kill(reason)) => (pump.interrupted(reason).await, true),
        Err(Cut::TooLong) => (Outcome::Finished { stop: StopReason::EndTurn, answer: None }, true),
    };
    pump.finish(outcome, is_unwanted).await
}

struct Pump<'a> {
    attempt: &'a Attempt<'a>,
    /// Holds the sessions that the CLI names.
    slot: &'a Slot,
    before: &'a mut Before,
    driver: &'a PluginId,
    child: &'a mut Child,
    /// Taken when the process has ended: the end is judged once.
    reader: Option<Reader>,
    framing: Framing,
    streams: Streams,
    notices: Notices,
    replies: Replies,
    delivery: Delivery<'a>,
    /// Bytes that the process has printed.
    printed: u64,
    may_retry: bool,
    used_a_tool: bool,
    tally: UsageTally,
    answer_chars: usize,
    /// What the CLI itself reported of the end of the turn.
    verdict: Option<Outcome>,
    /// How the process ended, if it ended before its turn was over.
    exit: Option<ExitStatus>,
    /// Set if the plugin expects more after the verdict: the moment until which the pump waits for it.
    settles: Option<Instant>,
}

impl Pump<'_> {
    async fn read(&mut self, turn: &Turn) -> Result<Outcome, Cut> {
        if let Some(reader) = &mut self.reader {
            // The CLI prints nothing before it has its prompt.
            let events = reader.begin(turn).await?;
            self.take(events).await;
            self.child.limit_input(self.attempt.model.limits.stdin_buffer);
        }
        let mut idle = Instant::now() + self.attempt.model.idle_timeout;
        loop {
            if let Some(verdict) = self.verdict.take_if(|_| self.settles.is_none_or(|end| end <= Instant::now())) {
                return Ok(verdict);
            }
            if self.delivery.has_failed() {
                return Err(Cut::TooLong);
            }
            let due = self.streams.due().filter(|due| *due < idle);
            match timeout_at(due.unwrap_or(idle), self.child.next()).await {
                Ok(ChildEvent::Output(source, bytes)) => {
                    self.printed += bytes.len() as u64;
                    if self.printed > self.attempt.model.limits.output {
                        return Err(Cut::Kill(KillReason::OutputLimit));
                    }
                    let text = self.streams.push(source, &bytes);
                    self.read_text(source, text).await?;
                }
                Ok(ChildEvent::Exited(status)) => return Ok(self.exited(status).await?),
                Err(_silent) if due.is_some() => {
                    self.read_open_lines().await?;
                    continue;
                }
                Err(_silent) => return self.verdict.take().ok_or(Cut::Kill(KillReason::Idle)),
            }
            idle = Instant::now() + self.longest_silence();
        }
    }

    /// The longest time without output.
    fn longest_silence(&self) -> Duration {
        if self.verdict.is_some() {
            self.attempt.model.limits.late_output_timeout
        } else {
            self.attempt.model.idle_timeout
        }
    }

    /// Reads lines without an end after a short silence.
    async fn read_open_lines(&mut self) -> Result<(), CallError> {
        for source in [StreamName::Stderr, StreamName::Stdout] {
            let text = self.streams.flush(source);
            self.read_text(source, text).await?;
        }
        Ok(())
    }

    /// Reads what was held back when the process has ended. Then the plugin judges, unless the CLI has.
    async fn exited(&mut self, status: ExitStatus) -> Result<Outcome, CallError> {
        for source in [StreamName::Stderr, StreamName::Stdout] {
            let text = self.streams.finish(source);
            self.read_text(source, text).await?;
        }
        self.exit = Some(status);
        let has_answer = self.answer_chars > 0;
        let judged = match (self.verdict.take(), self.reader.take()) {
            (Some(verdict), _) => return Ok(verdict),
            (None, Some(reader)) => reader.exit(status, has_answer).await,
            (None, None) => return Ok(Failure::new(Category::Unknown, "CLI failed", "").into()),
        };
        match judged {
            Ok(outcome) => Ok(outcome),
            Err(failed) => self.without_plugin(failed).await?.exit(status, has_answer).await,
        }
    }

    async fn read_text(&mut self, source: StreamName, text: Option<String>) -> Result<(), CallError> {
        let (Some(text), Some(reader)) = (text, &mut self.reader) else { return Ok(()) };
        let events = match reader.output(source, &text).await {
            Ok(events) => events,
            Err(failed) => {
                let mut raw = self.without_plugin(failed).await?;
                let events = raw.output(source, &text).await?;
                self.reader = Some(raw);
                events
            }
        };
        self.take(events).await;
        Ok(())
    }

    /// Continues without a plugin that has failed, if the client has received a part of the answer or the agent has used a
    /// tool. Otherwise the attempt fails with a status of its own, so that another model may be tried.
    async fn without_plugin(&mut self, failed: CallError) -> Result<Reader, CallError> {
        if self.may_retry && !self.used_a_tool {
            return Err(failed);
        }
        // A CLI that waits for a reply of the plugin would never end.
        self.child.close_input();
        let plugin_failed = PluginFailed { driver: self.driver.clone() };
        self.attempt.context.observer.plugin_failed(&plugin_failed);
        self.attempt.scope.writer.send(Step::PluginFailed(plugin_failed)).await;
        Ok(Reader::raw(self.framing, failed))
    }

    /// Handles events. Those after the end of the turn are dropped, unless the plugin has asked to wait for them.
    async fn take(&mut self, events: Vec<Event>) {
        for event in events {
            if self.verdict.is_some() && self.settles.is_none() {
                return;
            }
            tracing::trace!(?event, "from the plugin");
            match event {
                Event::Reply(text) => self.child.write(text),
                Event::EndInput => self.child.close_input(),
                Event::Usage(report) => self.tally.add(report),
                Event::Notice(notice) => self.notices.log(&notice),
                Event::Done(outcome) => self.verdict = Some(outcome),
                Event::Extra(extra) if extra.requests_settle() => {
                    self.settles.get_or_insert_with(|| Instant::now() + self.attempt.model.limits.exit_grace);
                }
                Event::Text(_)
                | Event::TextBreak
                | Event::Reasoning(_)
                | Event::ToolCall(_)
                | Event::ToolResult(_)
                | Event::Session(_)
                | Event::Extra(_) => self.send(event).await,
            }
        }
    }

    async fn send(&mut self, event: Event) {
        if let Event::Text(text) = &event {
            self.answer_chars += text.chars().count();
        }
        self.used_a_tool |= matches!(event, Event::ToolCall(_));
        self.attempt.context.observer.event(&event);
        if let Event::Session(id) = event {
            self.session(id).await;
            return;
        }
        let replies = self.replies.of(event);
        self.may_retry &= replies.is_empty();
        if !self.may_retry || self.used_a_tool {
            self.before.give_up();
        }
        for reply in replies {
            self.delivery.send(reply).await;
        }
    }

    async fn session(&mut self, id: String) {
        if let Ok(id) = SessionId::try_from(id.as_str()) {
            self.slot.hold_session(self.driver, &id);
        }
        self.attempt.scope.writer.send(Step::Session(id)).await;
    }

    /// Ends a run that the host interrupted. The plugin may have a part of an answer.
    async fn interrupted(&mut self, reason: KillReason) -> Outcome {
        // The turn was over: only late output is cut off.
        if let (Some(verdict), KillReason::Timeout | KillReason::OutputLimit) = (self.verdict.take(), reason) {
            return verdict;
        }
        self.may_retry &= !matches!(reason, KillReason::Cancelled | KillReason::Shutdown | KillReason::OutputLimit);
        if reason != KillReason::Cancelled {
            // A client that does not read does not delay the end.
            drop(timeout(self.attempt.model.limits.exit_grace, self.read_rest()).await);
        }
        let answer = match self.reader.take() {
            Some(reader) => reader.rest(ExitStatus::Killed(reason)).await,
            None => None,
        };
        let failure = match reason {
            KillReason::Idle if self.child.is_held_back() => not_reading(self.attempt.model),
            _ => interruption(reason, self.attempt.model),
        };
        Outcome::Failed { failure, answer }
    }

    /// Reads what was held back when the host ended the process, if the plugin was not in the middle of a call.
    async fn read_rest(&mut self) {
        let text = self.streams.finish(StreamName::Stdout);
        if let (Some(text), Some(reader)) = (text, &mut self.reader)
            && let Ok(events) = reader.output(StreamName::Stdout, &text).await
        {
            self.take(events).await;
        }
    }

    async fn finish(mut self, mut outcome: Outcome, is_unwanted: bool) -> TurnResult {
        let cut = self.streams.cut_lines();
        if cut > 0 {
            tracing::warn!(lines = cut, "lines over `limits.output_line` were cut");
        }
        self.notices.end();
        let stderr = self.streams.end_of_stderr();
        let mut answer_chars = self.answer_chars;
        let mut last_error = last_line(&stderr);
        match &mut outcome {
            Outcome::Finished { answer, .. } => {
                if answer_chars == 0 {
                    answer_chars = answer.as_deref().map_or(0, |answer| answer.chars().count());
                }
            }
            Outcome::Failed { failure, .. } => {
                if !is_unwanted {
                    self.name(failure, &stderr);
                }
                failure.detail = match failure.detail.as_str() {
                    "" => stderr,
                    detail => Tail::of(detail, self.attempt.model.limits.stderr_tail),
                };
                if last_error.is_empty() {
                    last_error = last_line(&failure.detail);
                }
            }
        }
        let after = AfterTurn { is_unwanted, used_a_tool: self.used_a_tool, last_error };
        self.send_answer(&mut outcome).await;
        let Delivered { rest, outcome, cut_chars } = self.delivery.finish(outcome).await;
        let outcome = self.attempt.send_rest(rest, outcome).await;
        let answer_chars = cut_chars.unwrap_or(answer_chars);
        TurnResult { outcome, tally: self.tally, answer_chars, may_retry: self.may_retry, after }
    }

    /// Sends an answer that was reported only at the end, if other text was shown: it is not used after any text.
    async fn send_answer(&mut self, outcome: &mut Outcome) {
        let (Outcome::Finished { answer, .. } | Outcome::Failed { answer, .. }) = outcome;
        if self.answer_chars > 0 || !self.replies.have_extra_text() {
            return;
        }
        for reply in answer.take().into_iter().flat_map(|text| self.replies.of(Event::Text(text))) {
            if self.attempt.run_in_time(self.delivery.send(reply)).await.is_err() {
                return;
            }
        }
    }

    /// Gives the failure of a process its cause, if the operating system refused the CLI something.
    fn name(&self, failure: &mut Failure, stderr: &str) {
        let (exit, has_answer) = (self.exit, self.answer_chars > 0);
        let obstacle = exit.filter(|exit| system::is_of_a_launcher(*exit)).and_then(|_| self.child.obstacle());
        system::name(failure, &End { exit, has_answer, stderr, obstacle });
    }
}

/// The last line with text, up to a limit for the log.
fn last_line(text: &str) -> String {
    const BYTES: usize = 300;
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line[..line.floor_char_boundary(BYTES)].to_owned()
}

/// The failure of a CLI that does not read its input, so that its output was not read either.
fn not_reading(model: &Model) -> Failure {
    let message = format!(
        "the CLI did not read its input for {}, while more than {} bytes waited, and was ended: raise \
         `limits.stdin_buffer` or `idle_timeout` of the model if it needs more",
        humantime::format_duration(model.idle_timeout),
        model.limits.stdin_buffer
    );
    Failure::new(Category::Timeout, message, "")
}
