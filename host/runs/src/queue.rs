//! The queue of runs: a limited number runs at once in total, of one model, in one repository, and one in a session.
//!
//! A request that exceeds a limit waits. A free slot goes to the model that was served longest ago, and of its requests to
//! the one that has waited longest, so that a model with many requests does not block the others.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use agentbay_domain::{Category, Failure, PluginId, QueueLimits, RetryHint, SessionId};
use tokio::sync::watch;
use tokio::time::timeout;

use super::error::RETRY_AFTER_MS;

/// The slots of the server. A clone shares them.
#[derive(Debug, Clone)]
pub(super) struct Queue(Arc<watch::Sender<State>>);

/// A slot that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    queue: Queue,
    number: u64,
}

/// What a run uses while it holds a slot, and the limits of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SlotRequest {
    pub(super) model: String,
    /// The number of runs of the model at once.
    pub(super) max_runs: Option<NonZeroUsize>,
    /// The repository, if the run works in it and not in a worktree of its own, and the number of runs in it at once.
    pub(super) repo: Option<(PathBuf, NonZeroUsize)>,
    /// The session to resume.
    pub(super) session: Option<SessionKey>,
    pub(super) limits: QueueLimits,
}

/// What a run occupies that others need as well.
#[derive(Debug)]
pub(super) struct Occupied {
    /// See [`SlotRequest::repo`].
    pub(super) repo: Option<(PathBuf, NonZeroUsize)>,
    /// See [`SlotRequest::session`].
    pub(super) session: Option<SessionKey>,
}

/// A session of a CLI. It has one transcript, which two processes at once would corrupt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionKey {
    pub(super) driver: PluginId,
    pub(super) id: SessionId,
}

/// Why there is no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum QueueError {
    /// The queue is full.
    #[error("the queue is full ({waiting} waiting): try again later, or raise `limits.queue`")]
    Full { waiting: usize },
    /// The request waited too long.
    #[error("no other run ended within {}: try again later, or raise `limits.queue_wait`", humantime::format_duration(.0.wait))]
    TimedOut(QueueLimits),
}

impl From<QueueError> for Failure {
    fn from(error: QueueError) -> Self {
        let retry = Some(RetryHint::AfterMs(RETRY_AFTER_MS));
        Self { retry, ..Self::new(Category::RateLimit, error.to_string(), "") }
    }
}

#[derive(Debug, Default)]
struct State {
    /// In the order of arrival.
    entries: BTreeMap<u64, Entry>,
    next: u64,
    /// When each model was served last: a number that grows.
    served: BTreeMap<String, u64>,
    times_served: u64,
}

#[derive(Debug)]
struct Entry {
    request: SlotRequest,
    admitted: bool,
    /// What its CLI named last: a new session, or a new name of the one it resumes.
    named: Option<SessionKey>,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }

    /// Waits for a slot. A future that is dropped leaves the queue.
    pub(super) async fn enter(&self, request: SlotRequest) -> Result<Slot, QueueError> {
        let limits = request.limits;
        let mut entered = Err(QueueError::Full { waiting: 0 });
        self.0.send_modify(|state| entered = state.enter(request));
        let number = entered?;
        let slot = Slot { queue: self.clone(), number };
        let mut state = self.0.subscribe();
        let admitted = timeout(limits.wait, state.wait_for(|state| state.is_admitted(number))).await.is_ok();
        if admitted { Ok(slot) } else { Err(QueueError::TimedOut(limits)) }
    }
}

impl Slot {
    /// Reserves a session for this run, which its CLI has just named.
    pub(super) fn hold_session(&self, driver: &PluginId, id: &SessionId) {
        let session = SessionKey { driver: driver.clone(), id: id.clone() };
        // It frees no slot, so no waiter is woken.
        self.queue.0.send_if_modified(|state| {
            if let Some(entry) = state.entries.get_mut(&self.number) {
                entry.named = Some(session);
            }
            false
        });
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.queue.0.send_modify(|state| {
            state.entries.remove(&self.number);
            state.admit();
        });
    }
}

impl State {
    fn enter(&mut self, request: SlotRequest) -> Result<u64, QueueError> {
        let number = self.next;
        let most_waiting = request.limits.length;
        self.next += 1;
        self.entries.insert(number, Entry { request, admitted: false, named: None });
        self.admit();
        let waiting = self.entries.values().filter(|entry| !entry.admitted).count();
        if !self.is_admitted(number) && waiting > most_waiting {
            self.entries.remove(&number);
            return Err(QueueError::Full { waiting: waiting - 1 });
        }
        Ok(number)
    }

    fn is_admitted(&self, number: u64) -> bool {
        self.entries.get(&number).is_some_and(|entry| entry.admitted)
    }

    fn admit(&mut self) {
        while let Some(number) = self.next_to_admit() {
            if let Some(entry) = self.entries.get_mut(&number) {
                entry.admitted = true;
                self.times_served += 1;
                self.served.insert(entry.request.model.clone(), self.times_served);
            }
        }
    }

    /// Of those within the limits: the one whose model was served longest ago, and of this model the first to arrive.
    fn next_to_admit(&self) -> Option<u64> {
        let waiting = self.entries.iter().filter(|(_, entry)| !entry.admitted);
        let fitting = waiting.filter(|(_, entry)| self.fits(&entry.request));
        fitting
            .min_by_key(|(number, entry)| (self.served.get(&entry.request.model), **number))
            .map(|(number, _)| *number)
    }

    fn fits(&self, request: &SlotRequest) -> bool {
        let running = |like: &dyn Fn(&SlotRequest) -> bool| {
            self.entries.values().filter(|entry| entry.admitted && like(&entry.request)).count()
        };
        let model_fits =
            request.max_runs.is_none_or(|most| running(&|other| other.model == request.model) < most.get());
        let repo_fits = request.repo.as_ref().is_none_or(|(repo, most)| {
            running(&|other| other.repo.as_ref().is_some_and(|(other, _)| other == repo)) < most.get()
        });
        running(&|_| true) < request.limits.runs && model_fits && repo_fits && self.session_is_free(request)
    }

    fn session_is_free(&self, request: &SlotRequest) -> bool {
        let mut running = self.entries.values().filter(|entry| entry.admitted);
        request.session.is_none()
            || !running.any(|entry| [&entry.request.session, &entry.named].contains(&&request.session))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;

    fn request(model: &str, runs: usize) -> SlotRequest {
        let limits = QueueLimits { runs, length: 3, wait: Duration::from_millis(20) };
        SlotRequest { model: model.to_owned(), max_runs: None, repo: None, session: None, limits }
    }

    fn enter(queue: &Queue, request: SlotRequest) -> Option<Result<Slot, QueueError>> {
        queue.enter(request).now_or_never()
    }

    #[tokio::test]
    async fn a_slot_is_free_again_when_it_is_dropped() {
        let queue = Queue::new();
        let slot = enter(&queue, request("a", 1)).unwrap().unwrap();
        let mut waiting = Box::pin(queue.enter(request("a", 1)));
        assert!((&mut waiting).now_or_never().is_none());
        drop(slot);
        let second = waiting.now_or_never().unwrap().unwrap();
        assert!(enter(&queue, request("a", 1)).is_none());
        drop(second);
        assert!(enter(&queue, request("a", 1)).unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_waiter_that_is_dropped_takes_no_slot() {
        let queue = Queue::new();
        let slot = enter(&queue, request("a", 1)).unwrap().unwrap();
        assert!(enter(&queue, request("a", 1)).is_none());
        drop(slot);
        assert!(enter(&queue, request("a", 1)).unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_model_with_many_requests_does_not_block_the_others() {
        let queue = Queue::new();
        let mut slot = enter(&queue, request("many", 1)).unwrap().unwrap();
        let mut waiting: Vec<_> =
            ["many", "many", "few"].map(|model| (model, Box::pin(queue.enter(request(model, 1))))).into();
        for (_, future) in &mut waiting {
            assert!(future.now_or_never().is_none());
        }
        let mut served = Vec::new();
        while !waiting.is_empty() {
            drop(slot);
            let at = waiting.iter_mut().enumerate().find_map(|(at, (_, future))| Some((at, future.now_or_never()?)));
            let (at, next) = at.unwrap();
            slot = next.unwrap();
            served.push(waiting.remove(at).0);
        }
        assert_eq!(served, ["few", "many", "many"]);
    }

    #[tokio::test]
    async fn models_and_repositories_have_limits_of_their_own() {
        let queue = Queue::new();
        let one = NonZeroUsize::MIN;
        let of_model = SlotRequest { max_runs: Some(one), ..request("a", 9) };
        let _a = enter(&queue, of_model.clone()).unwrap().unwrap();
        assert!(enter(&queue, of_model).is_none());
        let in_repo = |model: &str, repo: &str| SlotRequest { repo: Some((repo.into(), one)), ..request(model, 9) };
        let _b = enter(&queue, in_repo("b", "/one")).unwrap().unwrap();
        assert!(enter(&queue, in_repo("c", "/one")).is_none());
        assert!(enter(&queue, in_repo("d", "/two")).unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_session_has_one_run_at_a_time_and_blocks_no_other_request_of_its_model() {
        let queue = Queue::new();
        let resumes = |driver: &str, id: &str| {
            let (driver, id) = (driver.to_owned().try_into().unwrap(), SessionId::try_from(id).unwrap());
            SlotRequest { session: Some(SessionKey { driver, id }), ..request("a", 9) }
        };
        let first = enter(&queue, resumes("codex", "s-9")).unwrap().unwrap();
        let mut waiting = Box::pin(queue.enter(resumes("codex", "s-9")));
        assert!((&mut waiting).now_or_never().is_none());
        for other in [request("a", 9), resumes("codex", "s-8"), resumes("claude", "s-9")] {
            assert!(enter(&queue, other).unwrap().is_ok());
        }
        drop(first);
        let second = waiting.now_or_never().unwrap().unwrap();
        let named = resumes("codex", "s-10").session.unwrap();
        second.hold_session(&named.driver, &named.id);
        assert!(enter(&queue, resumes("codex", "s-10")).is_none(), "the name that its CLI gave it is reserved too");
        drop(second);
        assert!(enter(&queue, resumes("codex", "s-10")).unwrap().is_ok());
    }

    #[tokio::test]
    async fn the_queue_has_a_length_and_the_wait_a_limit() {
        let queue = Queue::new();
        let _slot = enter(&queue, request("a", 1)).unwrap().unwrap();
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(queue.enter(request("a", 1)))).collect();
        for future in &mut waiting {
            assert!(future.now_or_never().is_none());
        }
        assert_eq!(enter(&queue, request("b", 1)).unwrap().unwrap_err(), QueueError::Full { waiting: 3 });
        let late = waiting.remove(0).await.unwrap_err();
        assert_eq!(late, QueueError::TimedOut(request("a", 1).limits));
        assert_eq!(late.to_string(), "no other run ended within 20ms: try again later, or raise `limits.queue_wait`");
    }
}
