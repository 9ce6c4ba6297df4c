//! Chores: requests that clients send by themselves beside the turns of their users, such as for a title of the conversation.
//! Each would start an agent and wait behind the turn.
//!
//! `recognize` knows the chores of clients by what was recorded of them, `answer` has an answer of the right form for each.
//! Words of a user alone never make a chore: they count only together with a mark of the request's structure, such as a schema, a
//! header, or a single message without tools.

mod answer;
mod recognize;

pub use recognize::{Seen, recognize};

/// A recognised chore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chore {
    /// What the client wants.
    pub kind: ChoreKind,
    /// An answer without a model, in the form that the client expects; `None` if only a model can answer, because the client
    /// continues the conversation with the answer.
    pub answer: Option<String>,
}

/// What a client wants of a chore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoreKind {
    /// A title of the conversation.
    Title,
    /// Tags of the conversation.
    Tags,
    /// Messages that the user may send next.
    FollowUps,
    /// Queries for a search before the turn.
    SearchQueries,
    /// The rest of a message that the user is writing.
    Autocompletion,
    /// A description of an image.
    ImagePrompt,
    /// The choice of a model for the turn.
    Routing,
    /// One sentence about an earlier session.
    SessionSummary,
    /// A summary that replaces the conversation: the memory of the next turn.
    Compaction,
}

impl ChoreKind {
    /// The name, for headers and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Tags => "tags",
            Self::FollowUps => "follow-ups",
            Self::SearchQueries => "search-queries",
            Self::Autocompletion => "autocompletion",
            Self::ImagePrompt => "image-prompt",
            Self::Routing => "routing",
            Self::SessionSummary => "session-summary",
            Self::Compaction => "compaction",
        }
    }
}
