//! What is done with chores: requests that a client sends by itself beside the turns of its user, such as for a title.

/// What a model does with the chores of its clients. A chore that only a model can answer is run in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Chores {
    /// They are answered at once, without a run.
    #[default]
    Answer,
    /// They are refused.
    Refuse,
    /// They are run like a turn.
    Run,
    /// They are run by this model.
    Model(String),
}
