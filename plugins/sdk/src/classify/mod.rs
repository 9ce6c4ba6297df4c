//! Owns what kind of failure a CLI speaks of. Which words mean what is the table in `table.rs`; how a text is made into
//! words is in `words.rs`, and what it says about when to try again in `retry.rs` and `clock.rs`.
//!
//! Hand over what came on the CLI's error channel only: its error events, and the standard error of a run that failed. What
//! the assistant says is never an error, whatever words it has.

mod clock;
mod cursor;
mod retry;
mod table;
#[cfg(test)]
mod templates;
mod words;

use crate::{Category, Failure, RetryHint};
use table::{Row, TABLE, UNKNOWN};
use words::Words;

/// How many bytes of a report are looked at and kept as the failure's detail.
const REPORT_BYTES: usize = 16 * 1024;

/// What a rate limit without a word about the time asks for.
const RATE_LIMIT_MS: u64 = 1000;

/// A shorter wait than this does not give an allowance back, whatever the CLI says.
const QUOTA_MS: u64 = 60_000;

/// A wait up to this is the one of a burst limit.
const BURST_MS: u64 = 120_000;

/// The failure that a CLI's words tell of: its category, a sentence for it, the words as `detail`, and when to try again.
/// Words that are not understood are `unknown` with the message `CLI failed`.
pub fn failure(said: &str) -> Failure {
    Report::new(said).failure()
}

/// What a CLI reported: its words, and what it told apart from them.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    said: &'a str,
    code: &'a str,
    status: Option<u64>,
}

impl<'a> Report<'a> {
    /// A report of words only.
    pub fn new(said: &'a str) -> Self {
        Self { said, code: "", status: None }
    }

    /// The HTTP status that the provider answered. It beats the words, but for what they say more exactly: a 429 may be a
    /// spent allowance.
    #[must_use]
    pub fn status(mut self, status: impl Into<Option<u64>>) -> Self {
        self.status = status.into();
        self
    }

    /// A name of the error which is made for programs, such as `rate_limit_error`. It beats the words as a status does.
    #[must_use]
    pub fn code(mut self, code: &'a str) -> Self {
        self.code = code;
        self
    }

    /// The failure that is reported.
    pub fn failure(&self) -> Failure {
        let said = beginning(self.said);
        let plain = words::unescaped(said);
        let hint = retry::hint(&plain);
        let row = self.row(&Words::of(&plain), hint.as_ref());
        Failure {
            category: row.category,
            message: row.message.into(),
            detail: said.into(),
            retry: retry_of(row.category, hint),
        }
    }

    fn row(&self, said: &Words, hint: Option<&RetryHint>) -> &'static Row {
        let is_burst = matches!(hint, Some(RetryHint::AfterMs(wait)) if *wait <= BURST_MS);
        let speaks = |row: &&Row| (is_burst || !row.burst_only) && row.is_in(said);
        let Some(told) = self.told() else {
            return TABLE.iter().find(speaks).unwrap_or(&UNKNOWN);
        };
        let refined = |row: &&Row| row.category == told.category || may_be(told.category, row.category);
        TABLE.iter().find(|row| refined(row) && speaks(row)).unwrap_or(told)
    }

    /// The row of the status, or else of the code.
    fn told(&self) -> Option<&'static Row> {
        let by_status = self.status.and_then(|status| TABLE.iter().find(|row| row.statuses.contains(&status)));
        by_status.or_else(|| {
            let code = Words::of(beginning(self.code));
            TABLE.iter().find(|row| !row.burst_only && row.is_in(&code))
        })
    }
}

/// Whether a status of the one category is used for failures of the other, which the words then tell.
fn may_be(told: Category, said: Category) -> bool {
    match told {
        Category::RateLimit => said == Category::Quota,
        Category::Authentication => said == Category::Quota,
        Category::Validation => matches!(said, Category::Quota | Category::Authentication),
        Category::Quota => said == Category::RateLimit,
        Category::Network
        | Category::Server
        | Category::Timeout
        | Category::NotFound
        | Category::Configuration
        | Category::Unknown => false,
    }
}

fn retry_of(category: Category, hint: Option<RetryHint>) -> Option<RetryHint> {
    match category {
        Category::RateLimit => hint.or(Some(RetryHint::AfterMs(RATE_LIMIT_MS))),
        Category::Quota => hint.filter(|hint| !matches!(hint, RetryHint::AfterMs(wait) if *wait < QUOTA_MS)),
        Category::Server | Category::Timeout => hint,
        Category::Authentication
        | Category::Validation
        | Category::Network
        | Category::NotFound
        | Category::Configuration
        | Category::Unknown => None,
    }
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(REPORT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
