//! Whether another attempt follows a failed one, and after what time.

use std::iter::Peekable;
use std::time::Duration;

use agentbay_domain::{Failure, RetryLimits};
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use jiff::Timestamp;

/// The retries that a model has left.
#[derive(Debug)]
pub(super) struct Retries {
    waits: Peekable<ExponentialBackoff>,
    longest: Duration,
}

impl Retries {
    pub(super) fn new(retries: usize, limits: RetryLimits) -> Self {
        let waits = ExponentialBuilder::new()
            .with_min_delay(limits.initial_delay)
            .with_max_delay(limits.max_delay)
            .with_max_times(retries)
            .with_jitter();
        Self { waits: waits.build().peekable(), longest: limits.max_delay }
    }

    /// Returns whether there is one.
    pub(super) fn are_left(&mut self) -> bool {
        self.waits.peek().is_some()
    }

    /// The time to wait before the next attempt after this failure, or `None` if there is none.
    pub(super) fn next(&mut self, failure: &Failure, now: Timestamp) -> Option<Duration> {
        if !failure.category.is_transient() {
            return None;
        }
        let wait = self.waits.next()?.min(self.longest);
        match failure.retry.as_ref().and_then(|hint| hint.wait(now)) {
            Some(hinted) if hinted > self.longest => None,
            Some(hinted) => Some(hinted.max(wait)),
            None => Some(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{Category, RetryHint};

    use super::*;

    fn retries(count: usize) -> Retries {
        Retries::new(
            count,
            RetryLimits {
                initial_delay: Duration::from_secs(1),
                max_delay: Duration::from_secs(60),
                ..RetryLimits::default()
            },
        )
    }

    fn failure(category: Category, retry: Option<RetryHint>) -> Failure {
        Failure { retry, ..Failure::new(category, "", "") }
    }

    #[test]
    fn waits_grow_at_random_until_the_retries_are_used_up() {
        let mut retries = retries(3);
        let failure = failure(Category::Server, None);
        let waits = std::iter::from_fn(|| retries.next(&failure, Timestamp::now())).map(|wait| wait.as_secs_f64());
        let fits = waits.zip([1.0, 2.0, 4.0]).map(|(wait, least)| (least..=2.0 * least).contains(&wait));
        assert_eq!(fits.collect::<Vec<_>>(), [true, true, true]);
    }

    #[test]
    fn a_failure_that_would_repeat_is_not_retried() {
        for category in [
            Category::Quota,
            Category::Authentication,
            Category::Validation,
            Category::NotFound,
            Category::Configuration,
            Category::Unknown,
        ] {
            assert_eq!(retries(3).next(&failure(category, None), Timestamp::now()), None);
        }
    }

    #[test]
    fn the_retry_time_of_a_cli_is_used_unless_it_is_too_late() {
        let after = |seconds: u64| failure(Category::RateLimit, Some(RetryHint::AfterMs(seconds * 1000)));
        assert_eq!(retries(1).next(&after(20), Timestamp::now()), Some(Duration::from_secs(20)));
        assert_eq!(retries(1).next(&after(61), Timestamp::now()), None);
    }
}
