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

/// A run's use of tokens so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageTally(Option<Usage>);

impl UsageTally {
    /// Takes a report into account.
    pub fn add(&mut self, report: UsageReport) {
        let told = report.usage;
        self.0 = Some(match (report.scope, self.0) {
            (UsageScope::Step, Some(sum)) => sum.plus(told),
            (UsageScope::Step, None) | (UsageScope::Run | UsageScope::Thread, _) => told,
        });
    }

    /// What the CLI told in all, or nothing if it told nothing.
    pub fn told(self) -> Option<Usage> {
        self.0
    }
}

impl Usage {
    /// A guess from the lengths of texts in characters, for a CLI that tells nothing: four a token, rounded up.
    pub fn estimate(prompt: usize, answer: usize) -> Self {
        let tokens = |characters: usize| characters.div_ceil(4) as u64;
        Self { input: tokens(prompt), output: tokens(answer), ..Self::default() }
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
        tally.told().map(|usage| usage.input)
    }

    #[test]
    fn steps_add_up_and_totals_replace() {
        assert_eq!(tally(&[]), None);
        assert_eq!(tally(&[report(UsageScope::Step, 2), report(UsageScope::Step, 3)]), Some(5));
        assert_eq!(tally(&[report(UsageScope::Run, 2), report(UsageScope::Run, 3)]), Some(3));
        assert_eq!(tally(&[report(UsageScope::Step, u64::MAX), report(UsageScope::Step, 3)]), Some(u64::MAX));
    }

    #[test]
    fn an_estimate_rounds_up() {
        let expected = Usage { input: 2, output: 1, ..Usage::default() };
        assert_eq!(Usage::estimate(5, 1), expected);
    }
}
