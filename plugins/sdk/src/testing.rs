//! Owns what a plugin's tests need: a turn to begin with, recorded output to replay, and ways to cut it into pieces. Not
//! there in a component.

use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use crate::{Agent, Event, ExitStatus, Framing, Outcome, Permission, StreamName, Transcript, Turn};

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

/// A recorded run of a CLI: a folder with `stdout` and `meta.json`.
#[derive(Clone, Debug)]
pub struct Capture {
    /// What it printed.
    pub stdout: String,
    /// How it ended.
    pub exit: ExitStatus,
}

impl Capture {
    /// Reads a recorded run.
    ///
    /// # Errors
    /// If a file is missing or says neither an exit code nor a signal.
    pub fn read(folder: impl AsRef<Path>) -> io::Result<Self> {
        let folder = folder.as_ref();
        let meta: Value = serde_json::from_slice(&fs::read(folder.join("meta.json"))?)?;
        let number = |name: &str| meta.get(name).and_then(Value::as_i64).and_then(|number| i32::try_from(number).ok());
        let exit = number("exit_code").map(ExitStatus::Code).or_else(|| number("signal").map(ExitStatus::Signal));
        Ok(Self {
            stdout: fs::read_to_string(folder.join("stdout"))?,
            exit: exit.ok_or_else(|| io::Error::other(format!("{}: no exit status", folder.display())))?,
        })
    }

    /// Replays it, as [`replay`].
    pub fn replay<A: Agent>(&self, turn: &Turn, grouping: Grouping) -> Replay {
        replay::<A>(turn, &self.stdout, grouping, self.exit)
    }
}

/// What a plugin made of a process's output.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The events of `Transcript::output`, in their order.
    pub events: Vec<Event>,
    /// What `Event::Done` said, or else what `Transcript::exit` answered.
    pub outcome: Outcome,
}

/// Hands output over as the host does with the framing that the agent asks for.
pub fn replay<A: Agent>(turn: &Turn, stdout: &str, grouping: Grouping, exit: ExitStatus) -> Replay {
    let mut transcript = A::Transcript::new(turn);
    transcript.begin(turn);
    let mut events = Vec::new();
    for piece in pieces(stdout, A::describe().framing, grouping) {
        events.extend(transcript.output(StreamName::Stdout, &piece));
    }
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
