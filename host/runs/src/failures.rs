//! Recent failures. Most clients repeat a request after any error, and each repetition would be a whole run of an agent that
//! fails in the same way. A repetition is answered with the remembered failure at once.
//!
//! Of a failure that invites another attempt only the fact is remembered: the repetition runs, with one attempt.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agentbay_domain::{Failure, RetryHint};
use jiff::Timestamp;

use super::logins::Logins;
use super::registry::Identity;

/// The number of failures that are remembered. Each may hold 64 KiB of output.
const MOST: usize = 256;

/// Identifies a request: a hash of client and content.
pub(super) type RequestId = [u8; 32];

/// The recent failures. A clone shares them.
#[derive(Debug, Clone, Default)]
pub(super) struct Failures(Arc<Mutex<BTreeMap<RequestId, Remembered>>>);

#[derive(Debug, Clone)]
struct Remembered {
    failure: Failure,
    at: Instant,
    until: Instant,
    /// The generation of the snapshot that the run used.
    generation: u64,
    /// Unknown until the run's process has ended, which may write to these files itself.
    logins: Option<Logins>,
}

/// Where the failure of one request is remembered.
#[derive(Debug)]
pub(super) struct Memory {
    failures: Failures,
    request: RequestId,
    generation: u64,
}

impl Memory {
    pub(super) fn new(failures: &Failures, identity: &Identity, generation: u64) -> Self {
        Self { failures: failures.clone(), request: identity.request, generation }
    }

    /// Remembers a failure of the request, at most for `memory`.
    pub(super) fn remember(&self, failure: &Failure, memory: Duration) {
        self.failures.remember_at(Instant::now(), self.request, failure, self.generation, memory);
    }

    /// The process of the request has ended: later changes of the login files are not its own.
    pub(super) fn settle(&self, logins: impl FnOnce() -> Logins) {
        self.failures.settle(self.request, logins);
    }

    /// The request was answered.
    pub(super) fn forget(&self) {
        self.failures.forget(self.request);
    }
}

/// What is remembered of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing.
    Nothing,
    /// It failed, but something that the result may depend on has changed.
    Outdated,
    /// It failed, and another attempt may succeed.
    Invited,
    /// It failed, and would fail again.
    Failed { failure: Failure, ago: Duration },
}

impl Failures {
    fn remember_at(&self, at: Instant, request: RequestId, failure: &Failure, generation: u64, memory: Duration) {
        let now = Timestamp::now();
        let hinted = failure.retry.as_ref().and_then(|hint| hint.wait(now));
        let invites = failure.category.client_may_retry();
        let lasts = hinted.filter(|_| !invites).map_or(memory, |hinted| hinted.min(memory));
        let Some(until) = at.checked_add(lasts).filter(|until| *until > at) else { return };
        let retry = hinted.and_then(|hinted| at_epoch(now, hinted));
        let failure = Failure { retry, ..failure.clone() };
        let mut all = self.lock();
        all.retain(|_, remembered| remembered.until > at);
        if all.len() >= MOST
            && let Some(oldest) = all.iter().min_by_key(|(_, remembered)| remembered.at).map(|(request, _)| *request)
        {
            all.remove(&oldest);
        }
        all.insert(request, Remembered { failure, at, until, generation, logins: None });
    }

    fn settle(&self, request: RequestId, logins: impl FnOnce() -> Logins) {
        if self.lock().contains_key(&request) {
            let logins = logins();
            if let Some(remembered) = self.lock().get_mut(&request) {
                remembered.logins = Some(logins);
            }
        }
    }

    /// What is remembered of a request, unless something that the result may depend on has changed.
    pub(super) fn before(&self, of: &Identity, generation: u64, logins: impl FnOnce() -> Logins) -> Before {
        if of.rerun {
            self.forget(of.request);
        }
        self.before_at(Instant::now(), of.request, generation, logins)
    }

    fn before_at(&self, now: Instant, request: RequestId, generation: u64, logins: impl FnOnce() -> Logins) -> Before {
        let found = self.lock().get(&request).filter(|remembered| remembered.until > now).cloned();
        let Some(Remembered { failure, at, logins: then, generation: began, .. }) = found else {
            return Before::Nothing;
        };
        if began != generation || then.is_some_and(|then| then != logins()) {
            self.forget(request);
            Before::Outdated
        } else if failure.category.client_may_retry() {
            Before::Invited
        } else {
            Before::Failed { failure, ago: now.duration_since(at) }
        }
    }

    fn forget(&self, request: RequestId) {
        self.lock().remove(&request);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RequestId, Remembered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The moment at which a wait ends, which does not depend on when it is reported.
fn at_epoch(now: Timestamp, wait: Duration) -> Option<RetryHint> {
    let at = now.checked_add(wait).ok()?;
    u64::try_from(at.as_millisecond()).ok().map(RetryHint::AtEpochMs)
}

#[cfg(test)]
mod tests {
    use agentbay_domain::Category;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const REQUEST: RequestId = [1; 32];

    fn failures(category: Category, retry: Option<RetryHint>, memory: Duration) -> Failures {
        let failures = Failures::default();
        let failure = Failure { retry, ..Failure::new(category, "m", "d") };
        failures.remember_at(Instant::now(), REQUEST, &failure, 1, memory);
        failures
    }

    fn before(failures: &Failures, request: RequestId, generation: u64) -> Option<Failure> {
        match failures.before_at(Instant::now(), request, generation, || Logins::unknown(0)) {
            Before::Nothing | Before::Outdated => None,
            Before::Invited => Some(Failure::new(Category::Unknown, "invited", "")),
            Before::Failed { failure, .. } => Some(failure),
        }
    }

    #[test]
    fn a_failure_is_given_again_to_the_same_request_until_something_changes() {
        let failures = failures(Category::Authentication, None, MINUTE);
        let failure = Failure::new(Category::Authentication, "m", "d");
        assert_eq!(before(&failures, [2; 32], 1), None);
        assert_eq!(before(&failures, REQUEST, 1), Some(failure.clone()));
        failures.settle(REQUEST, || Logins::unknown(0));
        assert_eq!(before(&failures, REQUEST, 1), Some(failure));
        assert_eq!(before(&failures, REQUEST, 2), None);
        assert_eq!(before(&failures, REQUEST, 1), None);
    }

    #[test]
    fn a_changed_login_clears_a_failure() {
        let failures = failures(Category::Authentication, None, MINUTE);
        failures.settle(REQUEST, || Logins::unknown(7));
        assert_eq!(before(&failures, REQUEST, 1), None);
    }

    #[test]
    fn a_failure_is_remembered_no_longer_than_it_says_itself() {
        let hinted = failures(Category::Quota, Some(RetryHint::AfterMs(5_000)), MINUTE);
        let plain = failures(Category::Quota, None, MINUTE);
        let now = Instant::now();
        let after = |failures: &Failures, seconds| {
            let later = now + Duration::from_secs(seconds);
            failures.before_at(later, REQUEST, 1, || Logins::unknown(0)) != Before::Nothing
        };
        assert_eq!(
            [after(&hinted, 0), after(&hinted, 6), after(&plain, 6), after(&plain, 61)],
            [true, false, true, false]
        );
        let retry = before(&hinted, REQUEST, 1).and_then(|failure| failure.retry);
        assert!(matches!(retry, Some(RetryHint::AtEpochMs(_))), "{retry:?}");
        assert_eq!(before(&failures(Category::Quota, None, Duration::ZERO), REQUEST, 1), None);
    }

    #[test]
    fn of_a_failure_that_invites_another_try_only_that_is_remembered() {
        let failures = failures(Category::RateLimit, Some(RetryHint::AfterMs(0)), MINUTE);
        assert_eq!(before(&failures, REQUEST, 1).map(|failure| failure.message), Some("invited".to_owned()));
        failures.forget(REQUEST);
        assert_eq!(before(&failures, REQUEST, 1), None);
    }

    #[test]
    fn no_more_are_remembered_than_fit() {
        let failures = Failures::default();
        let failure = Failure::new(Category::Unknown, "m", "d");
        for number in 0..=u16::try_from(MOST).unwrap() {
            let mut request = [0; 32];
            request[..2].copy_from_slice(&number.to_be_bytes());
            failures.remember_at(Instant::now(), request, &failure, 1, MINUTE);
        }
        assert_eq!(failures.lock().len(), MOST);
    }
}
