//! From recorded bytes to events, on the way that a run takes: the cleaner of a stream, then a transcript in an instance
//! of its own, under the host's limits.

use std::time::{Duration, Instant};

use agentbay_domain::{Event, ExitStatus, Outcome, StreamName, Turn};
use agentbay_plugin_host::{CallError, Transcript};
use agentbay_runs::Cleaner;

use super::fixture::Read;
use super::subject::Subject;

/// What a plugin made of a process's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replay {
    /// What the output gave. How a turn begins is not among it.
    pub(super) events: Vec<Event>,
    /// What the CLI said of the end of its turn, or else what the plugin made of the end of the process.
    pub(super) outcome: Outcome,
}

/// The time that calls took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spent {
    pub(super) longest_call: Duration,
    pub(super) all_calls: Duration,
}

/// A replay that goes on.
pub(super) struct Player {
    transcript: Transcript,
    stdout: Cleaner,
    stderr: Cleaner,
    events: Vec<Event>,
    spent: Spent,
}

impl Spent {
    /// The longest of both.
    pub(super) fn or_longer(self, other: Self) -> Self {
        Self { longest_call: self.longest_call.max(other.longest_call), all_calls: self.all_calls.max(other.all_calls) }
    }

    fn add(&mut self, since: Instant) {
        let time = since.elapsed();
        self.longest_call = self.longest_call.max(time);
        self.all_calls += time;
    }
}

impl Replay {
    /// Whether the CLI itself said that its turn was finished.
    pub(super) fn says_finished(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Done(Outcome::Finished { .. })))
    }

    /// The same, with pieces of text put together that came apart: to a client they are one.
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

/// Plays output to a fresh instance.
///
/// # Errors
/// The plugin traps, or runs into a limit.
pub(super) async fn replay(
    subject: &Subject,
    turn: &Turn,
    reads: &[Read],
    exit: ExitStatus,
) -> Result<(Replay, Spent), CallError> {
    let mut player = Player::begin(subject, turn).await?;
    for read in reads {
        player.hear(read).await?;
    }
    player.end(exit).await
}

impl Player {
    /// A turn begins.
    pub(super) async fn begin(subject: &Subject, turn: &Turn) -> Result<Self, CallError> {
        let (framing, limit) = (subject.plugin.description().framing, subject.limits.run.line);
        let mut spent = Spent::default();
        let mut transcript = subject.transcript(turn).await?;
        let since = Instant::now();
        transcript.begin(turn).await?;
        spent.add(since);
        let cleaner = || Cleaner::new(framing, limit);
        Ok(Self { transcript, stdout: cleaner(), stderr: cleaner(), events: Vec::new(), spent })
    }

    /// The process says something.
    pub(super) async fn hear(&mut self, read: &Read) -> Result<(), CallError> {
        let text = self.cleaner(read.source).push(&read.bytes);
        self.tell(read.source, text).await
    }

    /// The process ends: what was held back is heard first.
    pub(super) async fn end(mut self, exit: ExitStatus) -> Result<(Replay, Spent), CallError> {
        for source in [StreamName::Stderr, StreamName::Stdout] {
            let text = self.cleaner(source).finish();
            self.tell(source, text).await?;
        }
        let Self { transcript, events, mut spent, .. } = self;
        let said = events.iter().find_map(|event| match event {
            Event::Done(outcome) => Some(outcome.clone()),
            _ => None,
        });
        let outcome = match said {
            Some(outcome) => outcome,
            None => {
                let since = Instant::now();
                let outcome = transcript.exit(exit).await?;
                spent.add(since);
                outcome
            }
        };
        Ok((Replay { events, outcome }, spent))
    }

    async fn tell(&mut self, source: StreamName, text: Option<String>) -> Result<(), CallError> {
        if let Some(text) = text {
            let since = Instant::now();
            self.events.extend(self.transcript.output(source, text).await?);
            self.spent.add(since);
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
