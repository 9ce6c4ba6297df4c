//! The two traits that a plugin implements. `export.rs` connects them to the component's exports.

use crate::{Description, Event, ExitStatus, Failure, Outcome, Plan, StreamName, Turn};

/// A CLI coding agent: its description, and how it is started.
pub trait Agent {
    /// The reader of its output.
    type Transcript: Transcript;

    /// Describes the plugin. Every call must return the same value.
    fn describe() -> Description;

    /// Builds the command line of a turn.
    ///
    /// # Errors
    /// A failure of category `configuration` or `validation` if there is no sensible command line. No process is started then.
    fn prepare(turn: &Turn) -> Result<Plan, Failure>;
}

/// One process and its output. Created before the process starts, dropped after it ends, and never reused for another one.
pub trait Transcript {
    /// Called before the process starts. The prompt may still be empty: read it in `begin`.
    fn new(turn: &Turn) -> Self;

    /// Begins a turn. By default the prompt is written to standard input, which is then closed.
    fn begin(&mut self, turn: &Turn) -> Vec<Event> {
        vec![Event::Reply(turn.prompt.clone()), Event::EndInput]
    }

    /// Reads output. With the framing `lines`, `text` is one or more whole lines, joined by line feeds, without a trailing one;
    /// with `text` it is a piece of the output. The grouping into calls must not matter.
    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event>;

    /// Called once, after the process has ended. The outcome counts only if no `Event::Done` was returned before.
    fn exit(&mut self, how: ExitStatus) -> Outcome;
}
