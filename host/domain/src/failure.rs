//! Failures of runs, in ten categories that decide between retry, fallback and giving up.
//!
//! The `api` crate maps categories to HTTP statuses.

use serde::Serialize;

use super::RetryHint;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The account's quota is exhausted.
    Quota,
    /// Too many requests in a short time.
    RateLimit,
    /// Not logged in, or not allowed.
    Authentication,
    /// The request itself is wrong.
    Validation,
    /// The CLI could not reach its provider.
    Network,
    /// The provider failed.
    Server,
    /// A time limit expired.
    Timeout,
    /// A program, a model or a session does not exist.
    NotFound,
    /// A setting or an installation is wrong.
    Configuration,
    /// Anything else.
    Unknown,
}

impl Category {
    /// Returns whether the same run may succeed a moment later.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::RateLimit | Self::Network | Self::Server | Self::Timeout)
    }

    /// Returns whether the client is asked to retry on its own. For any other category a retry would start another run
    /// that fails in the same way or repeats work that was already done.
    pub fn client_may_retry(self) -> bool {
        self == Self::RateLimit
    }

    /// Returns whether another model may succeed where this one failed.
    pub fn allows_fallback(self) -> bool {
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

/// A failed run's reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The kind of the failure.
    pub category: Category,
    /// One sentence for the client, with the remedy where it is known.
    pub message: String,
    /// The evidence, such as the end of the CLI's standard error.
    pub detail: String,
    /// When to retry, if the CLI reported it.
    pub retry: Option<RetryHint>,
}

impl Failure {
    /// Creates a failure without a retry hint.
    pub fn new(category: Category, message: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { category, message: message.into(), detail: detail.into(), retry: None }
    }
}
