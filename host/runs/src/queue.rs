//! Who may run now, and who waits: so many at once in all, of one model, and in one repository, and one in a session.
//!
//! Whoever does not fit waits. When a place is free, it goes to the model that was served longest ago, and of its
//! requests to the one that has waited longest: a model with many requests does not keep the others out.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use agentbay_domain::{Model, PluginId, QueueLimits, SessionId};
use tokio::sync::watch;
use tokio::time::timeout;

/// The places there are. A clone stands for the same ones.
#[derive(Debug, Clone)]
pub(super) struct Queue(Arc<watch::Sender<State>>);

/// A place that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    queue: Queue,
    number: u64,
}

/// What a run needs a place for, and how many may have one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    model: String,
    model_most: Option<NonZeroUsize>,
    /// The repository, if the run works in it and not in a worktree of its own.
    repo: Option<(PathBuf, NonZeroUsize)>,
    /// The session to resume.
    session: Option<Session>,
    limits: QueueLimits,
}

/// A session of a CLI, which has one transcript: two processes that write it at once would mix it up.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Session {
    driver: PluginId,
    id: SessionId,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPlace {
    /// Too many wait already.
    #[error("too many requests wait for others to end, {waiting} of them: try again later, or raise `limits.queue`")]
    Full { waiting: usize },
    /// It waited for too long.
    #[error("no other run ended within {}: try again later, or raise `limits.queue_wait`", humantime::format_duration(.0.wait))]
    Late(QueueLimits),
}

#[derive(Debug, Default)]
struct State {
    /// By the order in which they came.
    entries: BTreeMap<u64, Entry>,
    next: u64,
    /// When each model was served last: a number that grows.
    served: BTreeMap<String, u64>,
    times_served: u64,
}

#[derive(Debug)]
struct Entry {
    wanted: Wanted,
    admitted: bool,
    /// What its CLI named last: a new session, or a new name of the one it resumes.
    named: Option<Session>,
}

impl Wanted {
    /// A place for a run of the model, which may resume a session.
    pub(super) async fn of(model: &Model, session: Option<&SessionId>, limits: QueueLimits) -> Self {
        let repo = match model.worktree {
            Some(_) => None,
            // Two names of one folder are one repository.
            None => {
                let repo = tokio::fs::canonicalize(&model.repo).await.unwrap_or_else(|_| model.repo.clone());
                Some((repo, model.repo_runs))
            }
        };
        let session = session.map(|id| Session { driver: model.driver.clone(), id: id.clone() });
        Self { model: model.name.clone(), model_most: model.max_runs, repo, session, limits }
    }
}

impl Queue {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }

    /// Waits for a place. Whoever stops waiting has left the queue.
    pub(super) async fn enter(&self, wanted: Wanted) -> Result<Place, NoPlace> {
        let limits = wanted.limits;
        let mut entered = Err(NoPlace::Full { waiting: 0 });
        self.0.send_modify(|state| entered = state.enter(wanted));
        let number = entered?;
        let place = Place { queue: self.clone(), number };
        let mut state = self.0.subscribe();
        let admitted = timeout(limits.wait, state.wait_for(|state| state.is_admitted(number))).await.is_ok();
        if admitted { Ok(place) } else { Err(NoPlace::Late(limits)) }
    }
}

impl Place {
    /// Keeps a session to this run, which its CLI has just named.
    pub(super) fn hold_session(&self, driver: &PluginId, id: &SessionId) {
        let session = Session { driver: driver.clone(), id: id.clone() };
        // Nobody fits because of it, so that nobody is woken.
        self.queue.0.send_if_modified(|state| {
            if let Some(entry) = state.entries.get_mut(&self.number) {
                entry.named = Some(session);
            }
            false
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.queue.0.send_modify(|state| {
            state.entries.remove(&self.number);
            state.admit();
        });
    }
}

impl State {
    fn enter(&mut self, wanted: Wanted) -> Result<u64, NoPlace> {
        let number = self.next;
        let most_waiting = wanted.limits.length;
        self.next += 1;
        self.entries.insert(number, Entry { wanted, admitted: false, named: None });
        self.admit();
        let waiting = self.entries.values().filter(|entry| !entry.admitted).count();
        if !self.is_admitted(number) && waiting > most_waiting {
            self.entries.remove(&number);
            return Err(NoPlace::Full { waiting: waiting - 1 });
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
                self.served.insert(entry.wanted.model.clone(), self.times_served);
            }
        }
    }

    /// Of those that fit: the one whose model was served longest ago, and of this model the one that came first.
    fn next_to_admit(&self) -> Option<u64> {
        let waiting = self.entries.iter().filter(|(_, entry)| !entry.admitted);
        let fitting = waiting.filter(|(_, entry)| self.fits(&entry.wanted));
        fitting
            .min_by_key(|(number, entry)| (self.served.get(&entry.wanted.model), **number))
            .map(|(number, _)| *number)
    }

    fn fits(&self, wanted: &Wanted) -> bool {
        let running = |like: &dyn Fn(&Wanted) -> bool| {
            self.entries.values().filter(|entry| entry.admitted && like(&entry.wanted)).count()
        };
        let model_fits =
            wanted.model_most.is_none_or(|most| running(&|other| other.model == wanted.model) < most.get());
        let repo_fits = wanted.repo.as_ref().is_none_or(|(repo, most)| {
            running(&|other| other.repo.as_ref().is_some_and(|(other, _)| other == repo)) < most.get()
        });
        running(&|_| true) < wanted.limits.runs && model_fits && repo_fits && self.session_is_free(wanted)
    }

    fn session_is_free(&self, wanted: &Wanted) -> bool {
        let mut running = self.entries.values().filter(|entry| entry.admitted);
        wanted.session.is_none()
            || !running.any(|entry| [&entry.wanted.session, &entry.named].contains(&&wanted.session))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;

    fn wanted(model: &str, runs: usize) -> Wanted {
        let limits = QueueLimits { runs, length: 3, wait: Duration::from_millis(20) };
        Wanted { model: model.to_owned(), model_most: None, repo: None, session: None, limits }
    }

    fn enter(queue: &Queue, wanted: Wanted) -> Option<Result<Place, NoPlace>> {
        queue.enter(wanted).now_or_never()
    }

    #[tokio::test]
    async fn a_place_is_free_again_when_it_is_dropped() {
        let queue = Queue::new();
        let place = enter(&queue, wanted("a", 1)).unwrap().unwrap();
        let mut waiting = Box::pin(queue.enter(wanted("a", 1)));
        assert!((&mut waiting).now_or_never().is_none());
        drop(place);
        let second = waiting.now_or_never().unwrap().unwrap();
        assert!(enter(&queue, wanted("a", 1)).is_none());
        drop(second);
        assert!(enter(&queue, wanted("a", 1)).unwrap().is_ok());
    }

    #[tokio::test]
    async fn who_stops_waiting_takes_no_place() {
        let queue = Queue::new();
        let place = enter(&queue, wanted("a", 1)).unwrap().unwrap();
        assert!(enter(&queue, wanted("a", 1)).is_none());
        drop(place);
        assert!(enter(&queue, wanted("a", 1)).unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_model_with_many_requests_does_not_keep_the_others_out() {
        let queue = Queue::new();
        let mut place = enter(&queue, wanted("many", 1)).unwrap().unwrap();
        let mut waiting: Vec<_> =
            ["many", "many", "few"].map(|model| (model, Box::pin(queue.enter(wanted(model, 1))))).into();
        for (_, future) in &mut waiting {
            assert!(future.now_or_never().is_none());
        }
        let mut served = Vec::new();
        while !waiting.is_empty() {
            drop(place);
            let at = waiting.iter_mut().enumerate().find_map(|(at, (_, future))| Some((at, future.now_or_never()?)));
            let (at, next) = at.unwrap();
            place = next.unwrap();
            served.push(waiting.remove(at).0);
        }
        assert_eq!(served, ["few", "many", "many"]);
    }

    #[tokio::test]
    async fn models_and_repositories_have_limits_of_their_own() {
        let queue = Queue::new();
        let one = NonZeroUsize::MIN;
        let of_model = Wanted { model_most: Some(one), ..wanted("a", 9) };
        let _a = enter(&queue, of_model.clone()).unwrap().unwrap();
        assert!(enter(&queue, of_model).is_none());
        let in_repo = |model: &str, repo: &str| Wanted { repo: Some((repo.into(), one)), ..wanted(model, 9) };
        let _b = enter(&queue, in_repo("b", "/one")).unwrap().unwrap();
        assert!(enter(&queue, in_repo("c", "/one")).is_none());
        assert!(enter(&queue, in_repo("d", "/two")).unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_session_has_one_run_at_a_time_and_holds_no_other_request_of_its_model_back() {
        let queue = Queue::new();
        let resumes = |driver: &str, id: &str| {
            let (driver, id) = (driver.to_owned().try_into().unwrap(), SessionId::try_from(id).unwrap());
            Wanted { session: Some(Session { driver, id }), ..wanted("a", 9) }
        };
        let first = enter(&queue, resumes("codex", "s-9")).unwrap().unwrap();
        let mut waiting = Box::pin(queue.enter(resumes("codex", "s-9")));
        assert!((&mut waiting).now_or_never().is_none());
        for other in [wanted("a", 9), resumes("codex", "s-8"), resumes("claude", "s-9")] {
            assert!(enter(&queue, other).unwrap().is_ok());
        }
        drop(first);
        let second = waiting.now_or_never().unwrap().unwrap();
        let named = resumes("codex", "s-10").session.unwrap();
        second.hold_session(&named.driver, &named.id);
        assert!(enter(&queue, resumes("codex", "s-10")).is_none(), "the name that its CLI gave it is held too");
        drop(second);
        assert!(enter(&queue, resumes("codex", "s-10")).unwrap().is_ok());
    }

    #[tokio::test]
    async fn no_more_wait_than_may_and_nobody_for_ever() {
        let queue = Queue::new();
        let _place = enter(&queue, wanted("a", 1)).unwrap().unwrap();
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(queue.enter(wanted("a", 1)))).collect();
        for future in &mut waiting {
            assert!(future.now_or_never().is_none());
        }
        assert_eq!(enter(&queue, wanted("b", 1)).unwrap().unwrap_err(), NoPlace::Full { waiting: 3 });
        let late = waiting.remove(0).await.unwrap_err();
        assert_eq!(late, NoPlace::Late(wanted("a", 1).limits));
        assert_eq!(late.to_string(), "no other run ended within 20ms: try again later, or raise `limits.queue_wait`");
    }
}
