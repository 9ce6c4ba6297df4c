//! The error of a body that is not a valid request.

/// The body is not a valid request: the client must change it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Malformed {
    /// The faulty field; `None` if the body as a whole is faulty.
    pub param: Option<&'static str>,
    /// What is wrong, and what to send instead.
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
