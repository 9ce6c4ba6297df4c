//! Why something failed, in the ten categories that decide what happens next.
//!
//! What a category means in HTTP is `http::error`'s.

use serde::Serialize;

use super::RetryHint;

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The account's allowance is used up.
    Quota,
    /// Too many requests for now.
    RateLimit,
    /// Not logged in, or not allowed.
    Authentication,
    /// The request itself is wrong.
    Validation,
    /// The CLI could not reach its provider.
    Network,
    /// The provider failed.
    Server,
    /// It took too long.
    Timeout,
    /// A program, a model or a session does not exist.
    NotFound,
    /// Something is set up wrongly.
    Configuration,
    /// Anything else.
    Unknown,
}

impl Category {
    /// Whether the same may come out better a moment later.
    pub fn may_try_again(self) -> bool {
        matches!(self, Self::RateLimit | Self::Network | Self::Server | Self::Timeout)
    }

    /// Whether the client is asked to try again by itself. Of anything else a repetition would be one more run of an agent that
    /// meets the same, or does the same work a second time.
    pub fn invites_another_try(self) -> bool {
        self == Self::RateLimit
    }

    /// Whether another model may do what this one could not.
    pub fn may_fall_back(self) -> bool {
        matches!(self, Self::Quota | Self::Network | Self::Server | Self::Timeout | Self::NotFound | Self::Unknown)
    }

    /// The name that clients see as `code`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::RateLimit => "rate_limit",
            Self::Authentication => "authentication",
            Self::Validation => "validation",
            Self::Network => "network",
            Self::Server => "server",
            Self::Timeout => "timeout",
            Self::NotFound => "not_found",
            Self::Configuration => "configuration",
            Self::Unknown => "unknown",
        }
    }
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What kind of failure it was.
    pub category: Category,
    /// One sentence for the client, which says what to do where that is known.
    pub message: String,
    /// What stood behind it, such as the end of the CLI's standard error.
    pub detail: String,
    /// When to try again, if the CLI told.
    pub retry: Option<RetryHint>,
}

impl Failure {
    /// A failure with nothing known about when to try again.
    pub fn new(category: Category, message: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { category, message: message.into(), detail: detail.into(), retry: None }
    }
}
