//! A run from its beginning to its end: the models that are tried, how often, and what everyone who listens is told.

use std::time::Duration;

use agentbay_domain::{Category, Failure, KillReason, Outcome, RunId};
use agentbay_workspace::Author;
use jiff::Timestamp;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::attempt::{self, Attempt, Task};
use super::context::{Means, Request};
use super::failures::Memory;
use super::feed::Writer;
use super::interest::Interest;
use super::live::{Entry, Phase};
use super::logins::Logins;
use super::pump::interruption;
use super::rest::Left;
use super::retry::Tries;
use super::route::Route;
use super::step::{Ended, FailedTry, Step};

/// One run to carry out.
pub(super) struct Job {
    pub(super) id: RunId,
    pub(super) route: Route,
    pub(super) request: Request,
    /// Its client has sent it before: it tries again by itself, and two who do multiply.
    pub(super) repeated: bool,
    /// Remembers how it fails.
    pub(super) memory: Option<Memory>,
    pub(super) means: Means,
    pub(super) entry: Entry,
    pub(super) writer: Writer,
    pub(super) stopping: CancellationToken,
}

/// What follows a try.
enum Next {
    /// Nothing: this is how the run ended.
    End(Box<Attempt>),
    /// The same model, after this time.
    Again(Duration),
    /// The next model.
    Fallback,
}

/// Carries a run out to its end. Whoever listens is told how it ended as soon as that is known; what the process leaves
/// behind is cleared away after that.
pub(super) async fn carry_out(job: Job) {
    let span = tracing::info_span!("run", id = %job.id, model = %job.request.model);
    async {
        let asked = &job.route.model;
        job.means.observer.run_started(&asked.name, &asked.driver);
        let Attempt { model, ended, rest, .. } = job.tries().await;
        let failure = match &ended.outcome {
            Outcome::Finished { .. } => None,
            Outcome::Failed { failure, .. } => Some(failure.category),
        };
        job.means.observer.run_ended(&asked.name, &asked.driver, failure);
        log(&ended, job.entry.tries());
        let author = failure.is_none().then(|| Author { run: job.id, model: &model, at: Timestamp::now() });
        job.remember(&ended.outcome, rest.as_ref().is_some_and(Left::worked));
        job.writer.end(Step::Ended(ended));
        job.entry.is(Phase::Ending);
        if let Some(rest) = rest {
            rest.clear_away(author).await;
        }
        if let Some(memory) = &job.memory {
            memory.settle(|| Logins::of(&job.route, job.request.session.is_some(), &job.means.host));
        }
        job.wait_for_listeners().await;
    }
    .instrument(span)
    .await;
}

/// How the process ended is logged when it has: it may outlive its turn.
fn log(ended: &Ended, tries: usize) {
    match &ended.outcome {
        Outcome::Finished { .. } => tracing::info!(tries, "run ended"),
        Outcome::Failed { failure, .. } => {
            tracing::info!(category = failure.category.name(), reason = failure.message, tries, "run failed");
        }
    }
}

impl Job {
    /// Tries the models in their order until one answers, or no other try makes sense.
    async fn tries(&self) -> Attempt {
        let routes = self.route.with_fallbacks(self.request.session.is_some());
        let last = routes.len() - 1;
        for (at, route) in routes.into_iter().enumerate() {
            if let Some(ended) = self.tries_of(route, at < last).await {
                return ended;
            }
        }
        // The last one never falls back.
        Attempt::failed(Failure::new(Category::Unknown, "no model was tried", ""))
    }

    /// Tries one model. Nothing if another one is to be tried in its place.
    async fn tries_of(&self, route: &Route, others: bool) -> Option<Attempt> {
        let model = &route.model;
        let retries = if self.repeated { 0 } else { model.retries };
        let mut tries = Tries::new(retries, route.limits.retry);
        let until = Instant::now() + model.timeout;
        loop {
            self.entry.is_served_by(&model.name, &model.driver);
            let left = until.saturating_duration_since(Instant::now());
            let again = others || tries.are_left();
            let attempt = self.attempt(route, left, again).await;
            match self.next(attempt, &mut tries, others, until).await {
                Next::End(attempt) => return Some(*attempt),
                Next::Fallback => return None,
                Next::Again(wait) => {
                    self.entry.is(Phase::Waiting);
                    if let Err(reason) = self.interest().during(sleep(wait)).await {
                        return Some(Attempt::failed(interruption(reason, model)));
                    }
                }
            }
        }
    }

    async fn attempt(&self, route: &Route, left: Duration, may_be_followed: bool) -> Attempt {
        self.entry.is(Phase::Queued);
        let try_id = if self.entry.has_any_failed() { RunId::new() } else { self.id };
        let (request, means) = (&self.request, &self.means);
        let task = Task { id: self.id, try_id, route, request, means, left, may_be_followed };
        attempt::carry_out(task, self.interest(), &self.entry).await
    }

    /// What follows a try. If another try does, nothing of this one is left.
    async fn next(&self, mut attempt: Attempt, tries: &mut Tries, others: bool, until: Instant) -> Next {
        let Outcome::Failed { failure, .. } = &attempt.ended.outcome else { return Next::End(Box::new(attempt)) };
        let (category, model) = (failure.category, attempt.model.clone());
        if attempt.is_final {
            return Next::End(Box::new(attempt));
        }
        let in_time = |wait: &Duration| Instant::now() + *wait < until;
        let next = match tries.next(failure, Timestamp::now()).filter(in_time) {
            Some(wait) => Next::Again(wait),
            None if others && category.may_fall_back() => Next::Fallback,
            None => return Next::End(Box::new(attempt)),
        };
        if let Some(rest) = attempt.rest.take() {
            let mut throwing = rest.throw_away();
            match self.interest().during_until(until, &mut throwing).await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::info!("the run is not tried again: it has changed something");
                    return Next::End(Box::new(attempt));
                }
                Err(reason) => {
                    let rest = Some(Left::Throwing(throwing));
                    return Next::End(Box::new(Attempt { rest, ..self.interrupted(reason, attempt) }));
                }
            }
        }
        tracing::info!(model, category = category.name(), "a try failed, another one follows");
        let failed = FailedTry { model, category };
        self.entry.has_failed(failed.clone());
        match self.interest().during_until(until, self.writer.tell(Step::Failed(failed))).await {
            Ok(()) => next,
            Err(reason) => Next::End(Box::new(self.interrupted(reason, attempt))),
        }
    }

    /// What becomes of a failed try when the run is ended before the next one. That its time is up does not tell more
    /// than why it failed.
    fn interrupted(&self, reason: KillReason, failed: Attempt) -> Attempt {
        match reason {
            KillReason::Timeout => failed,
            reason => Attempt::failed(interruption(reason, &self.route.model)),
        }
    }

    /// Remembers a failure for which a process was at work. Who cancelled a run, or went away, may want it after all.
    fn remember(&self, outcome: &Outcome, worked: bool) {
        let Outcome::Failed { failure, .. } = outcome else {
            self.memory.iter().for_each(Memory::forget);
            return;
        };
        if failure.category.invites_another_try() {
            self.entry.is_not_joined();
        }
        let model = &self.route.model;
        let unwanted = [KillReason::Cancelled, KillReason::Shutdown].map(|reason| interruption(reason, model));
        if worked && !unwanted.contains(failure) {
            self.memory.iter().for_each(|memory| memory.remember(failure, self.route.limits.retry.failure_memory));
        }
    }

    fn interest(&self) -> Interest<'_> {
        Interest { writer: &self.writer, cancelled: &self.entry.cancelled, stopping: &self.stopping }
    }

    /// A client that lost its connection at the very end can still come back for the answer.
    async fn wait_for_listeners(&self) {
        self.interest().lost().await;
    }
}
