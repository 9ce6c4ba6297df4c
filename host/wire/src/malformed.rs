//! Why a body is no request.

use agentbay_domain::ConversationError;

/// A body is no request: whoever sent it must change it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Malformed {
    /// The field that is wrong, if it is one and not the body as a whole.
    pub param: Option<&'static str>,
    /// What is wrong, and what to send.
    pub message: String,
}

impl Malformed {
    pub(crate) fn field(param: &'static str, message: impl Into<String>) -> Self {
        Self { param: Some(param), message: message.into() }
    }

    pub(crate) fn body(message: impl Into<String>) -> Self {
        Self { param: None, message: message.into() }
    }
}

impl From<ConversationError> for Malformed {
    fn from(error: ConversationError) -> Self {
        Self::field("messages", error.to_string())
    }
}
