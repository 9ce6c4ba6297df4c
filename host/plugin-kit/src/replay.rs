//! Turns recorded bytes into events as a run does: the cleaner of a stream, then a transcript in its own instance, under the
//! host's limits.

use std::time::{Duration, Instant};

use agentbay_domain::{Event, ExitStatus, Outcome, StreamName, Turn};
use agentbay_plugin_host::{CallError, Transcript};
use agentbay_runs::Cleaner;

use super::fixture::Read;
use super::subject::Subject;

/// The events of a process's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replay {
    /// Events of the output, without those of `begin`.
    pub(super) events: Vec<Event>,
    /// The outcome that the CLI reported with `done`, or else the one from `exit`.
    pub(super) outcome: Outcome,
}

/// Durations of plugin calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CallTimes {
    pub(super) longest_call: Duration,
    pub(super) all_calls: Duration,
}

/// A replay in progress.
pub(super) struct Player {
    transcript: Transcript,
    stdout: Cleaner,
    stderr: Cleaner,
    events: Vec<Event>,
    times: CallTimes,
}

impl CallTimes {
    /// The maximum of both.
    pub(super) fn max(self, other: Self) -> Self {
        Self { longest_call: self.longest_call.max(other.longest_call), all_calls: self.all_calls.max(other.all_calls) }
    }

    fn add(&mut self, since: Instant) {
        let time = since.elapsed();
        self.longest_call = self.longest_call.max(time);
        self.all_calls += time;
    }
}

impl Replay {
    /// Whether the CLI itself reported that its turn is finished.
    pub(super) fn reports_finished(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Done(Outcome::Finished { .. })))
    }

    /// The replay with adjacent pieces of text joined: a client sees no difference.
    pub(super) fn joined(&self) -> Self {
        let mut events: Vec<Event> = Vec::new();
        for event in &self.events {
            match (events.last_mut(), event) {
                (Some(Event::Text(text)), Event::Text(more))
                | (Some(Event::Reasoning(text)), Event::Reasoning(more)) => {
                    text.push_str(more);
                }
                _ => events.push(event.clone()),
            }
        }
        Self { events, outcome: self.outcome.clone() }
    }
}

/// Replays output in a fresh instance.
///
/// # Errors
/// The plugin traps or exceeds a limit.
pub(super) async fn replay(
    subject: &Subject,
    turn: &Turn,
    reads: &[Read],
    exit: ExitStatus,
) -> Result<(Replay, CallTimes), CallError> {
    let mut player = Player::begin(subject, turn).await?;
    for read in reads {
        player.push(read).await?;
    }
    player.end(exit).await
}

impl Player {
    /// Begins the turn.
    pub(super) async fn begin(subject: &Subject, turn: &Turn) -> Result<Self, CallError> {
        let (framing, limit) = (subject.plugin.description().framing, subject.limits.run.output_line);
        let mut times = CallTimes::default();
        let mut transcript = subject.transcript(turn).await?;
        let since = Instant::now();
        transcript.begin(turn).await?;
        times.add(since);
        let cleaner = || Cleaner::new(framing, limit);
        Ok(Self { transcript, stdout: cleaner(), stderr: cleaner(), events: Vec::new(), times })
    }

    /// Passes on output of the process.
    pub(super) async fn push(&mut self, read: &Read) -> Result<(), CallError> {
        let text = self.cleaner(read.source).push(&read.bytes);
        self.output(read.source, text).await
    }

    /// Ends the process, after output that was held back.
    pub(super) async fn end(mut self, exit: ExitStatus) -> Result<(Replay, CallTimes), CallError> {
        for source in [StreamName::Stderr, StreamName::Stdout] {
            let text = self.cleaner(source).finish();
            self.output(source, text).await?;
        }
        let Self { transcript, events, mut times, .. } = self;
        let reported = events.iter().find_map(|event| match event {
            Event::Done(outcome) => Some(outcome.clone()),
            _ => None,
        });
        let outcome = match reported {
            Some(outcome) => outcome,
            None => {
                let since = Instant::now();
                let outcome = transcript.exit(exit).await?;
                times.add(since);
                outcome
            }
        };
        Ok((Replay { events, outcome }, times))
    }

    async fn output(&mut self, source: StreamName, text: Option<String>) -> Result<(), CallError> {
        if let Some(text) = text {
            let since = Instant::now();
            self.events.extend(self.transcript.output(source, text).await?);
            self.times.add(since);
        }
        Ok(())
    }

    fn cleaner(&mut self, source: StreamName) -> &mut Cleaner {
        match source {
            StreamName::Stdout => &mut self.stdout,
            StreamName::Stderr => &mut self.stderr,
        }
    }
}
