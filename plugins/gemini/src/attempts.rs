//! Retries of Gemini CLI, which it reports on standard error only:
//! `Attempt 1 failed with status 500. Retrying with backoff... _ApiError: {"error":{…}}`.
//!
//! It retries for minutes, without a setting for the limit. A few attempts are left to it, because only the CLI can retry inside a run
//! that has changed something; then the failure becomes the outcome, and the host decides.

use agentbay_plugin_sdk::{Category, Failure, classify};

/// The attempt whose failure ends the run.
const LAST_ATTEMPT: u32 = 3;

/// Maximum number of characters read of a line.
const LINE_CHARS: usize = 2000;

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    number: u32,
    failure: Failure,
}

impl Attempt {
    /// Parses a line; `None` if it does not report an attempt.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let (number, message) = line.strip_prefix("Attempt ")?.split_once(" failed")?;
        let message: String = message.trim_start_matches(':').trim().chars().take(LINE_CHARS).collect();
        Some(Self { number: number.parse().ok()?, failure: classify::failure(&message) })
    }

    /// The text for the log.
    pub(crate) fn remark(&self) -> String {
        format!("attempt {} failed: {}", self.number, self.failure.message)
    }

    /// The failure of the run, if another attempt is not worth waiting for.
    pub(crate) fn verdict(self) -> Option<Failure> {
        let is_over = self.number >= LAST_ATTEMPT || self.failure.category == Category::Quota;
        is_over.then_some(self.failure)
    }
}
