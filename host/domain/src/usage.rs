//! Tokens used, in one meaning for every vendor: `input` is everything that was sent, cached or not.

use serde::Serialize;

/// Tokens used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Usage {
    /// Everything that was sent.
    pub input: u64,
    /// The part of `input` read from a cache.
    pub cached_input: u64,
    /// The part of `input` written to a cache.
    pub cache_write: u64,
    /// Everything that was generated.
    pub output: u64,
    /// The part of `output` that was reasoning.
    pub reasoning: u64,
}

/// How a report relates to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsageScope {
    /// One request to the model: adds up.
    Step,
    /// The run so far: replaces.
    Run,
    /// The session since it began: replaces, where the session began with this run.
    Thread,
}

/// What a CLI told about its use of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UsageReport {
    /// How it relates to the reports before it.
    pub scope: UsageScope,
    /// The tokens.
    #[serde(flatten)]
    pub usage: Usage,
}

/// More tokens than any run takes: a larger count is a mistake of the CLI. Numbers up to 2^53 are exact for every client.
const MOST: u64 = 1_000_000_000_000;

/// A run's use of tokens so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageTally {
    told: Option<Usage>,
    /// What was told counts from the beginning of the session.
    is_of_thread: bool,
}

impl UsageTally {
    /// Takes a report into account.
    pub fn add(&mut self, report: UsageReport) {
        let told = report.usage.plausible();
        self.told = Some(match (report.scope, self.told) {
            (UsageScope::Step, Some(sum)) => sum.plus(told).plausible(),
            (UsageScope::Step, None) | (UsageScope::Run | UsageScope::Thread, _) => told,
        });
        if report.scope != UsageScope::Step {
            self.is_of_thread = report.scope == UsageScope::Thread;
        }
    }

    /// What the CLI told in all. Nothing if it told nothing, or if it `resumed` a session and told the session's totals:
    /// how much of them is this run's is not known.
    pub fn told(self, resumed: bool) -> Option<Usage> {
        self.told.filter(|_| !(resumed && self.is_of_thread))
    }
}

impl Usage {
    /// A guess from the lengths of texts in characters, for a CLI that tells nothing: four a token, rounded up.
    pub fn estimate(prompt: usize, answer: usize) -> Self {
        let tokens = |characters: usize| characters.div_ceil(4) as u64;
        Self { input: tokens(prompt), output: tokens(answer), ..Self::default() }
    }

    /// The same without counts that cannot be: none over [`MOST`], no part larger than the whole.
    fn plausible(self) -> Self {
        let (input, output) = (self.input.min(MOST), self.output.min(MOST));
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
        tally.told(false).map(|usage| usage.input)
    }

    #[test]
    fn steps_add_up_and_totals_replace() {
        assert_eq!(tally(&[]), None);
        assert_eq!(tally(&[report(UsageScope::Step, 2), report(UsageScope::Step, 3)]), Some(5));
        assert_eq!(tally(&[report(UsageScope::Run, 2), report(UsageScope::Run, 3)]), Some(3));
        assert_eq!(tally(&[report(UsageScope::Thread, 2), report(UsageScope::Thread, 3)]), Some(3));
    }

    #[test]
    fn counts_that_cannot_be_are_cut_to_what_can() {
        assert_eq!(tally(&[report(UsageScope::Step, u64::MAX), report(UsageScope::Step, 3)]), Some(MOST));
        let usage = Usage { input: 5, cached_input: 4, cache_write: 3, output: u64::MAX, reasoning: u64::MAX };
        let mut tally = UsageTally::default();
        tally.add(UsageReport { scope: UsageScope::Run, usage });
        let expected = Usage { input: 5, cached_input: 4, cache_write: 1, output: MOST, reasoning: MOST };
        assert_eq!(tally.told(false), Some(expected));
    }

    #[test]
    fn the_totals_of_a_session_are_not_those_of_a_run_that_resumed_it() {
        let mut tally = UsageTally::default();
        tally.add(report(UsageScope::Thread, 300));
        assert_eq!((tally.told(true), tally.told(false).is_some()), (None, true));
        tally.add(report(UsageScope::Run, 3));
        assert_eq!(tally.told(true).map(|usage| usage.input), Some(3));
    }

    #[test]
    fn an_estimate_rounds_up() {
        let expected = Usage { input: 2, output: 1, ..Usage::default() };
        assert_eq!(Usage::estimate(5, 1), expected);
    }
}
