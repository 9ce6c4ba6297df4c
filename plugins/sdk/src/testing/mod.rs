//! Support for a plugin's tests: turns, replay of output, and ways to group it. `capture.rs` has recorded runs, `golden.rs` their
//! expected events, `invariants.rs` their properties, `scripted.rs` the answers of the model in them, `generated` random runs.
//! `suite!` writes the common tests of plugins. Not part of a component.

mod capture;
mod generated;
pub(crate) mod golden;
mod invariants;
mod mutated;
pub mod roles;
mod scripted;
mod suite;

use crate::{Agent, Event, ExitStatus, Framing, Outcome, Permission, StreamName, Transcript, Turn};

pub use capture::{Capture, captures};
pub use generated::{Call, Script, Step, check_generated, claude_lines, scripts};
pub use golden::{compare, events_json, outcome_json};
pub use invariants::{check_corrupted, check_groupings, check_interleaved, check_mutated, check_truncated};
pub use mutated::check_mutated_streams;
pub use scripted::{MARKDOWN, PLAIN, answer_of};
pub use suite::{Suite, suite};

/// A turn with this prompt in `/repo`, with deltas. Change the fields that a test is about.
pub fn turn(prompt: &str) -> Turn {
    Turn {
        prompt: prompt.into(),
        system: None,
        model: None,
        permission: Permission::WorkspaceWrite,
        workdir: "/repo".into(),
        extra_dirs: Vec::new(),
        session: None,
        output_schema: None,
        partial: true,
        run_dir: "/run/agentbay/run-1".into(),
        options: Vec::new(),
    }
}

/// The split of output into calls of `Transcript::output`.
#[derive(Clone, Copy, Debug)]
pub enum Grouping {
    /// All in one call.
    Whole,
    /// N lines a call, or with the framing `text` N characters.
    Each(usize),
}

/// Groupings for tests that the grouping makes no difference.
pub const GROUPINGS: [Grouping; 5] =
    [Grouping::Each(1), Grouping::Each(2), Grouping::Each(3), Grouping::Each(7), Grouping::Whole];

/// The result of a plugin for a process's output.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The events of `Transcript::output`, in order.
    pub events: Vec<Event>,
    /// The outcome of `Event::Done`, or else of `Transcript::exit`.
    pub outcome: Outcome,
}

/// Replays standard output as the host does, with the agent's framing.
pub fn replay<A: Agent>(turn: &Turn, stdout: &str, grouping: Grouping, exit: ExitStatus) -> Replay {
    let pieces = pieces(stdout, A::describe().framing, grouping);
    feed::<A>(turn, pieces.iter().map(|piece| (StreamName::Stdout, piece.as_str())), exit)
}

fn feed<'a, A: Agent>(
    turn: &Turn,
    pieces: impl IntoIterator<Item = (StreamName, &'a str)>,
    exit: ExitStatus,
) -> Replay {
    let mut transcript = A::Transcript::new(turn);
    transcript.begin(turn);
    let mut events = Vec::new();
    for (source, piece) in pieces {
        events.extend(transcript.output(source, piece));
    }
    finish(transcript, events, exit)
}

fn finish(mut transcript: impl Transcript, events: Vec<Event>, exit: ExitStatus) -> Replay {
    let done =
        events.iter().find_map(|event| if let Event::Done(outcome) = event { Some(outcome.clone()) } else { None });
    let outcome = done.unwrap_or_else(|| transcript.exit(exit));
    Replay { events, outcome }
}

impl Replay {
    /// The answer that the client receives: the texts, with a blank line between messages; without any, the outcome's answer.
    pub fn answer(&self) -> String {
        let mut answer = String::new();
        for event in &self.events {
            if let Event::Text(text) = event {
                answer.push_str(text);
            } else if matches!(event, Event::TextBreak) {
                answer.push_str("\n\n");
            }
        }
        if answer.is_empty() { self.outcome.answer.clone().unwrap_or_default() } else { answer }
    }
}

fn pieces(stdout: &str, framing: Framing, grouping: Grouping) -> Vec<String> {
    let (units, glue): (Vec<String>, &str) = match framing {
        Framing::Lines => (stdout.lines().map(String::from).collect(), "\n"),
        Framing::Text => (stdout.chars().map(String::from).collect(), ""),
    };
    let size = match grouping {
        Grouping::Whole => units.len(),
        Grouping::Each(size) => size,
    };
    units.chunks(size.max(1)).map(|group| group.join(glue)).collect()
}

/// Corrupted variants of recorded output: truncated after and inside every line, and every line replaced by something that is not an
/// event. A plugin must not panic on any of them, nor report a finished turn if it started with an event and has no end.
pub fn corrupted(stdout: &str) -> Vec<String> {
    let lines: Vec<&str> = stdout.lines().collect();
    let mut variants = Vec::new();
    for (count, line) in lines.iter().enumerate() {
        let before = &lines[..count];
        let half: String = line.chars().take(line.chars().count() / 2).collect();
        variants.push(before.join("\n"));
        variants.push([before, &[half.as_str()]].concat().join("\n"));
        for other in ["{}", "null", "[]", "{\"type\":null}", "{\"type\":{\"type\":[]}}", "\u{2028}"] {
            variants.push([before, &[other], &lines[count + 1..]].concat().join("\n"));
        }
    }
    variants
}
