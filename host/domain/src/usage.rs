//! Token usage, with one meaning for every vendor: `input` counts all tokens sent, cached or not.

use serde::Serialize;

/// Token usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Usage {
    /// All tokens sent.
    pub input: u64,
    /// The part of `input` read from a cache.
    pub cached_input: u64,
    /// The part of `input` written to a cache.
    pub cache_write: u64,
    /// All tokens generated.
    pub output: u64,
    /// The part of `output` that was reasoning.
    pub reasoning: u64,
}

/// How a report relates to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsageScope {
    /// One request to the model: added to the sum.
    Step,
    /// The run so far: replaces the sum.
    Run,
    /// The session since its start: replaces the sum, if the session started with this run.
    Thread,
}

/// A CLI's report of its token usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UsageReport {
    /// How it relates to the reports before it.
    pub scope: UsageScope,
    /// The tokens.
    #[serde(flatten)]
    pub usage: Usage,
}

/// More tokens than any run uses: a larger count is an error of the CLI. Every client represents numbers up to 2^53
/// exactly.
const MAX_TOKENS: u64 = 1_000_000_000_000;

/// Of English text and code. Other languages have fewer.
const CHARS_PER_TOKEN: usize = 4;

/// A run's token usage so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageTally {
    total: Option<Usage>,
    /// Whether `total` counts from the start of the session.
    is_session_total: bool,
}

impl UsageTally {
    /// Adds a report.
    pub fn add(&mut self, report: UsageReport) {
        let reported = report.usage.plausible();
        self.total = Some(match (report.scope, self.total) {
            (UsageScope::Step, Some(sum)) => sum.plus(reported).plausible(),
            (UsageScope::Step, None) | (UsageScope::Run | UsageScope::Thread, _) => reported,
        });
        if report.scope != UsageScope::Step {
            self.is_session_total = report.scope == UsageScope::Thread;
        }
    }

    /// Returns the run's total. `None` if the CLI reported no usage, or if it `resumed` a session and reported the
    /// session's totals, of which this run's share is unknown.
    pub fn total(self, resumed: bool) -> Option<Usage> {
        self.total.filter(|_| !(resumed && self.is_session_total))
    }
}

impl Usage {
    /// Estimates the usage from the lengths of texts in characters, for a CLI that reports none: four characters a
    /// token, rounded up.
    pub fn estimate(prompt: usize, answer: usize) -> Self {
        let tokens = |characters: usize| characters.div_ceil(CHARS_PER_TOKEN) as u64;
        Self { input: tokens(prompt), output: tokens(answer), ..Self::default() }
    }

    /// The length in characters of the longest text that is estimated at `tokens`.
    pub fn estimated_chars(tokens: u64) -> usize {
        usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN)
    }

    /// Limits implausible counts: none exceeds [`MAX_TOKENS`], and no part exceeds the whole.
    fn plausible(self) -> Self {
        let (input, output) = (self.input.min(MAX_TOKENS), self.output.min(MAX_TOKENS));
        let cached_input = self.cached_input.min(input);
        Self {
            input,
            cached_input,
            cache_write: self.cache_write.min(input - cached_input),
            output,
            reasoning: self.reasoning.min(output),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(scope: UsageScope, input: u64) -> UsageReport {
        UsageReport { scope, usage: Usage { input, ..Usage::default() } }
    }

    fn tally(reports: &[UsageReport]) -> Option<u64> {
        let mut tally = UsageTally::default();
        reports.iter().for_each(|report| tally.add(*report));
        tally.total(false).map(|usage| usage.input)
    }

    #[test]
    fn steps_add_up_and_totals_replace() {
        assert_eq!(tally(&[]), None);
        assert_eq!(tally(&[report(UsageScope::Step, 2), report(UsageScope::Step, 3)]), Some(5));
        assert_eq!(tally(&[report(UsageScope::Run, 2), report(UsageScope::Run, 3)]), Some(3));
        assert_eq!(tally(&[report(UsageScope::Thread, 2), report(UsageScope::Thread, 3)]), Some(3));
    }

    #[test]
    fn implausible_counts_are_limited() {
        assert_eq!(tally(&[report(UsageScope::Step, u64::MAX), report(UsageScope::Step, 3)]), Some(MAX_TOKENS));
        let usage = Usage { input: 5, cached_input: 4, cache_write: 3, output: u64::MAX, reasoning: u64::MAX };
        let mut tally = UsageTally::default();
        tally.add(UsageReport { scope: UsageScope::Run, usage });
        let expected = Usage { input: 5, cached_input: 4, cache_write: 1, output: MAX_TOKENS, reasoning: MAX_TOKENS };
        assert_eq!(tally.total(false), Some(expected));
    }

    #[test]
    fn the_totals_of_a_session_do_not_count_for_a_run_that_resumed_it() {
        let mut tally = UsageTally::default();
        tally.add(report(UsageScope::Thread, 300));
        assert_eq!((tally.total(true), tally.total(false).is_some()), (None, true));
        tally.add(report(UsageScope::Run, 3));
        assert_eq!(tally.total(true).map(|usage| usage.input), Some(3));
    }

    #[test]
    fn an_estimate_rounds_up() {
        let expected = Usage { input: 2, output: 1, ..Usage::default() };
        assert_eq!(Usage::estimate(5, 1), expected);
        let longest = Usage::estimated_chars(2);
        assert_eq!([longest, longest + 1].map(|chars| Usage::estimate(0, chars).output), [2, 3]);
    }
}
