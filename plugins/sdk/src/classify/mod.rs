//! The category of a failure, from a CLI's error text. `table.rs` has the table of words, `words.rs` turns text into words, `retry.rs`
//! and `clock.rs` read retry times.
//!
//! Pass only text from the CLI's error channel: its error events, and the standard error of a failed run. Text of the assistant is
//! never an error, regardless of its words.

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

/// Maximum number of bytes of a report that are read and kept as the failure's detail.
const REPORT_BYTES: usize = 16 * 1024;

/// Retry delay of a rate limit without a time.
const RATE_LIMIT_MS: u64 = 1000;

/// Shortest plausible wait for a quota: a shorter one does not restore it, whatever the CLI prints.
const QUOTA_MS: u64 = 60_000;

/// Longest wait that indicates a burst limit.
const BURST_MS: u64 = 120_000;

/// The failure in a CLI's error text: its category, a message, the text as `detail`, and a retry hint. Unknown text has the category
/// `unknown` and the message `CLI failed`.
pub fn failure(text: &str) -> Failure {
    ErrorReport::new(text).failure()
}

/// An error as a CLI reports it: text, and optionally a status and a code.
#[derive(Clone, Copy, Debug)]
pub struct ErrorReport<'a> {
    text: &'a str,
    code: &'a str,
    status: Option<u64>,
}

impl<'a> ErrorReport<'a> {
    /// A report with text only.
    pub fn new(text: &'a str) -> Self {
        Self { text, code: "", status: None }
    }

    /// The provider's HTTP status. It takes precedence over the text, unless the text is more specific: a 429 may be an exhausted
    /// quota.
    #[must_use]
    pub fn status(mut self, status: impl Into<Option<u64>>) -> Self {
        self.status = status.into();
        self
    }

    /// A machine-readable error code, such as `rate_limit_error`. It takes precedence over the text as a status does.
    #[must_use]
    pub fn code(mut self, code: &'a str) -> Self {
        self.code = code;
        self
    }

    /// The classified failure.
    pub fn failure(&self) -> Failure {
        let text = beginning(self.text);
        let plain = words::unescaped(text);
        let hint = retry::hint(&plain);
        let row = self.row(&Words::of(&plain), hint.as_ref());
        Failure {
            category: row.category,
            message: row.message.into(),
            detail: text.into(),
            retry: retry_of(row.category, hint),
        }
    }

    fn row(&self, words: &Words, hint: Option<&RetryHint>) -> &'static Row {
        let is_burst = matches!(hint, Some(RetryHint::AfterMs(wait)) if *wait <= BURST_MS);
        let matches = |row: &&Row| (is_burst || !row.burst_only) && row.is_in(words);
        let Some(reported) = self.reported_row() else {
            return TABLE.iter().find(matches).unwrap_or(&UNKNOWN);
        };
        let refined = |row: &&Row| row.category == reported.category || may_be(reported.category, row.category);
        TABLE.iter().find(|row| refined(row) && matches(row)).unwrap_or(reported)
    }

    /// The row of the status, or else the row of the code.
    fn reported_row(&self) -> Option<&'static Row> {
        let by_status = self.status.and_then(|status| TABLE.iter().find(|row| row.statuses.contains(&status)));
        by_status.or_else(|| {
            let code = Words::of(beginning(self.code));
            TABLE.iter().find(|row| !row.burst_only && row.is_in(&code))
        })
    }
}

/// Whether failures of the second category are also reported with a status of the first. The text then decides.
fn may_be(status: Category, text: Category) -> bool {
    match status {
        Category::RateLimit => text == Category::Quota,
        Category::Authentication => text == Category::Quota,
        Category::Validation => matches!(text, Category::Quota | Category::Authentication),
        Category::Quota => text == Category::RateLimit,
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
