//! The agents that are compared with a direct run, and the models of their names.

/// A model, and the CLI behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The program's own, which prints its prompt.
    Echo,
    /// The same with the default `retries`.
    EchoDefault,
    /// The recorded run of a real CLI, without its waits.
    Replayed,
    /// The same with the default `retries`.
    ReplayedDefault,
    /// The same, after it has used the processor for some milliseconds.
    Computing,
    /// `EchoDefault` in a large repository.
    EchoLarge,
    /// `ReplayedDefault` in a large repository.
    ReplayedLarge,
    /// Deltas of Claude Code that say when they were printed.
    Stamped,
}

impl Agent {
    /// The agents that need no large repository.
    pub(super) const USUAL: [Self; 6] =
        [Self::Echo, Self::EchoDefault, Self::Replayed, Self::ReplayedDefault, Self::Computing, Self::Stamped];

    pub(super) const OF_LARGE: [Self; 2] = [Self::EchoLarge, Self::ReplayedLarge];

    /// The model's name.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::EchoDefault => "echo-default",
            Self::Replayed => "replayed",
            Self::ReplayedDefault => "replayed-default",
            Self::Computing => "computing",
            Self::EchoLarge => "echo-large",
            Self::ReplayedLarge => "replayed-large",
            Self::Stamped => "stamped",
        }
    }
}
