//! Whether a failed try is followed by another one, and after what time.

use std::iter::Peekable;
use std::time::Duration;

use agentbay_domain::{Failure, RetryLimits};
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use jiff::Timestamp;

/// The tries that a model still has.
#[derive(Debug)]
pub(super) struct Tries {
    waits: Peekable<ExponentialBackoff>,
    longest: Duration,
}

impl Tries {
    pub(super) fn new(retries: usize, limits: RetryLimits) -> Self {
        let waits = ExponentialBuilder::new()
            .with_min_delay(limits.first)
            .with_max_delay(limits.longest)
            .with_max_times(retries)
            .with_jitter();
        Self { waits: waits.build().peekable(), longest: limits.longest }
    }

    /// Whether there is one.
    pub(super) fn are_left(&mut self) -> bool {
        self.waits.peek().is_some()
    }

    /// The time to wait before the next try after this failure, if there is to be one.
    pub(super) fn next(&mut self, failure: &Failure, now: Timestamp) -> Option<Duration> {
        if !failure.category.may_try_again() {
            return None;
        }
        let wait = self.waits.next()?.min(self.longest);
        match failure.retry.as_ref().and_then(|hint| hint.wait(now)) {
            Some(told) if told > self.longest => None,
            Some(told) => Some(told.max(wait)),
            None => Some(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{Category, RetryHint};

    use super::*;

    fn tries(retries: usize) -> Tries {
        Tries::new(
            retries,
            RetryLimits { first: Duration::from_secs(1), longest: Duration::from_secs(60), ..RetryLimits::default() },
        )
    }

    fn failure(category: Category, retry: Option<RetryHint>) -> Failure {
        Failure { retry, ..Failure::new(category, "", "") }
    }

    #[test]
    fn waits_grow_with_chance_until_the_tries_are_used_up() {
        let mut tries = tries(3);
        let failure = failure(Category::Server, None);
        let waits = std::iter::from_fn(|| tries.next(&failure, Timestamp::now())).map(|wait| wait.as_secs_f64());
        let fits = waits.zip([1.0, 2.0, 4.0]).map(|(wait, least)| (least..=2.0 * least).contains(&wait));
        assert_eq!(fits.collect::<Vec<_>>(), [true, true, true]);
    }

    #[test]
    fn what_would_fail_again_is_not_tried_again() {
        for category in [
            Category::Quota,
            Category::Authentication,
            Category::Validation,
            Category::NotFound,
            Category::Configuration,
            Category::Unknown,
        ] {
            assert_eq!(tries(3).next(&failure(category, None), Timestamp::now()), None);
        }
    }

    #[test]
    fn a_cli_that_says_when_to_come_back_is_believed_unless_that_is_too_late() {
        let after = |seconds: u64| failure(Category::RateLimit, Some(RetryHint::AfterMs(seconds * 1000)));
        assert_eq!(tries(1).next(&after(20), Timestamp::now()), Some(Duration::from_secs(20)));
        assert_eq!(tries(1).next(&after(61), Timestamp::now()), None);
    }
}
