//! Owns the two traits that a plugin implements. The component's border (handles, shared references) is `export.rs`.

use crate::{Description, Event, ExitStatus, Failure, Outcome, Plan, StreamName, Turn};

/// A CLI coding agent: what it is called, what it can do, and how it is started.
pub trait Agent {
    /// What reads the output of its process.
    type Transcript: Transcript;

    /// Says what the plugin is for. Must give the same at every call.
    fn describe() -> Description;

    /// Makes the command line of a turn.
    ///
    /// # Errors
    /// A failure of category `configuration` or `validation` if no sensible command line can be made. No process is
    /// started then.
    fn prepare(turn: &Turn) -> Result<Plan, Failure>;
}

/// One process and what it says. Made before the process starts, dropped after its end, and never used for a second one.
pub trait Transcript {
    /// Called before the process starts. The prompt may be empty still: take it from `begin`.
    fn new(turn: &Turn) -> Self;

    /// A turn begins. By default the prompt is written to the process's standard input, which is then closed.
    fn begin(&mut self, turn: &Turn) -> Vec<Event> {
        vec![Event::Reply(turn.prompt.clone()), Event::EndInput]
    }

    /// The process said something. With the framing `lines`, `text` is one or more whole lines joined by line feeds,
    /// without one at the end; with `text` it is what came. How output is grouped into calls must not matter.
    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event>;

    /// The process ended. Asked once; what it answers counts only if no `Event::Done` was given.
    fn exit(&mut self, how: ExitStatus) -> Outcome;
}
