//! Owns what a plugin's tests need: a turn to begin with, output to replay, and ways to cut it into pieces. Recorded runs are
//! in `capture.rs`, what is expected of them in `golden.rs`, what must hold for each in `invariants.rs`, what the model said in
//! them in `scripted.rs`, and runs that are made up in `generated`. `suite!` writes the tests that plugins have in common. Not there
//! in a component.

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
pub use invariants::{check_damaged, check_groupings, check_interleaved, check_mutated, check_truncated};
pub use mutated::check_mutated_streams;
pub use scripted::{MARKDOWN, PLAIN, answer_of};
pub use suite::{Suite, suite};

/// A turn with this prompt in `/repo`, in which the client wants deltas. Change what a test is about.
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

/// How output is cut into calls of `Transcript::output`.
#[derive(Clone, Copy, Debug)]
pub enum Grouping {
    /// All in one call.
    Whole,
    /// So many lines a call, or with the framing `text` so many characters.
    Each(usize),
}

/// Groupings for a test that none of them makes a difference.
pub const GROUPINGS: [Grouping; 5] =
    [Grouping::Each(1), Grouping::Each(2), Grouping::Each(3), Grouping::Each(7), Grouping::Whole];

/// What a plugin made of a process's output.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The events of `Transcript::output`, in their order.
    pub events: Vec<Event>,
    /// What `Event::Done` said, or else what `Transcript::exit` answered.
    pub outcome: Outcome,
}

/// Hands standard output over as the host does with the framing that the agent asks for.
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
    ended(transcript, events, exit)
}

fn ended(mut transcript: impl Transcript, events: Vec<Event>, exit: ExitStatus) -> Replay {
    let done =
        events.iter().find_map(|event| if let Event::Done(outcome) = event { Some(outcome.clone()) } else { None });
    let outcome = done.unwrap_or_else(|| transcript.exit(exit));
    Replay { events, outcome }
}

impl Replay {
    /// What the client gets to read: the texts, with a blank line between two messages; without any, the outcome's answer.
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

/// Ways in which recorded output can be damaged: cut off behind every line and within it, and every line replaced by
/// something that is no event. A plugin must not panic on any of them, nor call a turn finished that began with an event and
/// has no end.
pub fn damaged(stdout: &str) -> Vec<String> {
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
