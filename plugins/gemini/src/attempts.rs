//! Owns the retries of Gemini CLI, which it tells on standard error only:
//! `Attempt 1 failed with status 500. Retrying with backoff... _ApiError: {"error":{…}}`.
//!
//! It goes on for minutes, and nothing sets a limit to it. A few attempts are left to it, for within a run that has changed
//! something only it can try again; then the failure is the verdict, and the host decides.

use agentbay_plugin_sdk::{Category, Failure, classify};

/// The attempt whose failure ends the run.
const LAST_ATTEMPT: u32 = 3;

/// How much of a line is read.
const LINE_CHARS: usize = 2000;

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    number: u32,
    failure: Failure,
}

impl Attempt {
    /// Reads a line; none if it tells of no attempt.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let (number, said) = line.strip_prefix("Attempt ")?.split_once(" failed")?;
        let said: String = said.trim_start_matches(':').trim().chars().take(LINE_CHARS).collect();
        Some(Self { number: number.parse().ok()?, failure: classify::failure(&said) })
    }

    /// In words for the log.
    pub(crate) fn remark(&self) -> String {
        format!("attempt {} failed: {}", self.number, self.failure.message)
    }

    /// The failure of the run, if there is no point in waiting for another attempt.
    pub(crate) fn verdict(self) -> Option<Failure> {
        let is_over = self.number >= LAST_ATTEMPT || self.failure.category == Category::Quota;
        is_over.then_some(self.failure)
    }
}
