//! A run from its start to its end: the models that are tried, the number of attempts, and what the clients receive.

use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::{Category, Failure, KillReason, Outcome, RunId};
use jiff::Timestamp;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::backend::{Attempt, Attempted, Cleanup};
use super::context::{Request, RunContext};
use super::delivery::FormatCheck;
use super::failures::Memory;
use super::feed::Writer;
use super::logins::Logins;
use super::queue::{Occupied, SlotRequest};
use super::registry::{Phase, RunHandle};
use super::retry::Retries;
use super::route::Route;
use super::scope::{RunScope, interruption};
use super::step::{Ended, FailedAttempt, Step};

/// One run.
pub(super) struct Job {
    pub(super) id: RunId,
    pub(super) route: Route,
    pub(super) request: Request,
    /// Set if the answer has a format.
    pub(super) check: Option<Arc<FormatCheck>>,
    /// Its client has sent it before, so the client retries: retries of both would multiply.
    pub(super) repeated: bool,
    /// Where its failure is remembered.
    pub(super) memory: Option<Memory>,
    pub(super) context: RunContext,
    pub(super) handle: RunHandle,
    pub(super) writer: Writer,
    pub(super) stopping: CancellationToken,
}

/// What follows an attempt.
enum Next {
    /// Nothing: the run has ended.
    End(Box<Attempted>),
    /// The same model, after this time.
    Retry(Duration),
    /// The next model.
    Fallback,
}

/// Runs a job to its end. The clients receive the end as soon as it is known; the rest is released after that.
pub(super) async fn run(job: Job) {
    let span = tracing::info_span!("run", id = %job.id, model = %job.request.model);
    async {
        let asked = &job.route.model;
        let driver = job.route.backend.driver();
        job.context.observer.run_started(&asked.name, driver);
        let Attempted { ended, cleanup, .. } = job.attempts().await;
        let failure = match &ended.outcome {
            Outcome::Finished { .. } => None,
            Outcome::Failed { failure, .. } => Some(failure.category),
        };
        job.context.observer.run_ended(&asked.name, driver, failure);
        log(&ended, job.handle.attempts());
        job.remember(&ended.outcome, cleanup.as_ref().is_some_and(Cleanup::has_worked));
        job.writer.end(Step::Ended(ended));
        job.handle.set_phase(Phase::Ending);
        if let Some(cleanup) = cleanup {
            cleanup.release(failure.is_none()).await;
        }
        if let Some(memory) = &job.memory {
            memory.settle(|| Logins::of(&job.route, job.request.session.is_some(), &job.context.host));
        }
        job.wait_for_listeners().await;
    }
    .instrument(span)
    .await;
}

/// The exit of the process is logged when it exits: it may outlive its turn.
fn log(ended: &Ended, attempts: usize) {
    match &ended.outcome {
        Outcome::Finished { .. } => tracing::info!(attempts, "run ended"),
        Outcome::Failed { failure, .. } => {
            tracing::info!(category = failure.category.name(), reason = failure.message, attempts, "run failed");
        }
    }
}

impl Job {
    /// Tries the models in their order until one answers, or no further attempt makes sense.
    async fn attempts(&self) -> Attempted {
        let routes = self.route.with_fallbacks(self.request.session.is_some());
        let last = routes.len() - 1;
        for (at, route) in routes.into_iter().enumerate() {
            if let Some(ended) = self.attempts_with(route, at < last).await {
                return ended;
            }
        }
        // The last model has no fallback.
        Attempted::failed(Failure::new(Category::Unknown, "no model was tried", ""), false)
    }

    /// Tries one model. `None` if the next model is to be tried.
    async fn attempts_with(&self, route: &Route, others: bool) -> Option<Attempted> {
        let model = &route.model;
        let retries = if self.repeated { 0 } else { model.retries };
        let mut retries = Retries::new(retries, route.limits.retry);
        let until = Instant::now() + model.timeout;
        loop {
            self.handle.set_current_model(&model.name, route.backend.driver());
            let left = until.saturating_duration_since(Instant::now());
            let may_be_followed = others || retries.are_left();
            let attempted = self.attempt(route, left, may_be_followed).await;
            match self.next(route, attempted, &mut retries, others, until).await {
                Next::End(attempted) => return Some(*attempted),
                Next::Fallback => return None,
                Next::Retry(wait) => {
                    self.handle.set_phase(Phase::Waiting);
                    if let Err(reason) = self.scope().run(sleep(wait)).await {
                        return Some(Attempted::failed(interruption(reason, model), false));
                    }
                }
            }
        }
    }

    /// Waits for a slot and makes one attempt, which may take `left`.
    async fn attempt(&self, route: &Route, left: Duration, may_be_followed: bool) -> Attempted {
        self.handle.set_phase(Phase::Queued);
        let Route { model, backend, limits, .. } = route;
        let entered = async {
            let Occupied { repo, session } = backend.occupied(self.request.session.as_ref()).await;
            let (model, max_runs) = (model.name.clone(), model.max_runs);
            let request = SlotRequest { model, max_runs, repo, session, limits: limits.queue };
            self.context.queue.enter(request).await
        };
        let slot = match self.scope().run(entered).await {
            Ok(Ok(slot)) => slot,
            Ok(Err(error)) => {
                tracing::warn!(%error, "run not started");
                return Attempted::failed(error.into(), false);
            }
            Err(reason) => return Attempted::failed(interruption(reason, model), false),
        };
        self.handle.set_phase(Phase::Running);
        let attempt = Attempt {
            run: self.id,
            id: if self.handle.has_failed_attempts() { RunId::new() } else { self.id },
            model,
            request: &self.request,
            check: self.check.as_ref(),
            context: &self.context,
            scope: self.scope(),
            deadline: Instant::now() + left,
            may_be_followed,
        };
        backend.run(attempt, slot).await
    }

    /// What follows an attempt. If another attempt does, nothing of this one remains.
    async fn next(
        &self,
        route: &Route,
        mut attempted: Attempted,
        retries: &mut Retries,
        others: bool,
        until: Instant,
    ) -> Next {
        let Outcome::Failed { failure, .. } = &attempted.ended.outcome else { return Next::End(Box::new(attempted)) };
        let (category, model) = (failure.category, route.model.name.clone());
        if !attempted.may_retry {
            return Next::End(Box::new(attempted));
        }
        let in_time = |wait: &Duration| Instant::now() + *wait < until;
        let next = match retries.next(failure, Timestamp::now()).filter(in_time) {
            Some(wait) => Next::Retry(wait),
            None if others && category.allows_fallback() => Next::Fallback,
            None => return Next::End(Box::new(attempted)),
        };
        if let Some(cleanup) = attempted.cleanup.take() {
            let mut discarding = cleanup.discard();
            match self.scope().run_until(until, &mut discarding).await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::info!("the run is not tried again: it has changed something");
                    return Next::End(Box::new(attempted));
                }
                Err(reason) => {
                    let cleanup = Some(Cleanup::Discarding(discarding));
                    return Next::End(Box::new(Attempted { cleanup, ..self.interrupted(reason, attempted) }));
                }
            }
        }
        tracing::info!(model, category = category.name(), "an attempt failed, another one follows");
        let failed = FailedAttempt { model, category };
        self.handle.record_failed_attempt(failed.clone());
        match self.scope().run_until(until, self.writer.send(Step::Failed(failed))).await {
            Ok(()) => next,
            Err(reason) => Next::End(Box::new(self.interrupted(reason, attempted))),
        }
    }

    /// The result of a run that is ended between two attempts. A timeout says less than the failure of the last attempt.
    fn interrupted(&self, reason: KillReason, failed: Attempted) -> Attempted {
        match reason {
            KillReason::Timeout => failed,
            reason => Attempted::failed(interruption(reason, &self.route.model), false),
        }
    }

    /// Remembers a failure of a process. A client that cancelled or left may still want the run.
    fn remember(&self, outcome: &Outcome, worked: bool) {
        let Outcome::Failed { failure, .. } = outcome else {
            self.memory.iter().for_each(Memory::forget);
            return;
        };
        if failure.category.client_may_retry() {
            self.handle.forbid_joining();
        }
        let model = &self.route.model;
        let unwanted = [KillReason::Cancelled, KillReason::Shutdown].map(|reason| interruption(reason, model));
        if worked && !unwanted.contains(failure) {
            self.memory.iter().for_each(|memory| memory.remember(failure, self.route.limits.retry.failure_cache_ttl));
        }
    }

    fn scope(&self) -> RunScope<'_> {
        RunScope { writer: &self.writer, cancelled: &self.handle.cancelled, stopping: &self.stopping }
    }

    /// A client that lost its connection at the very end can still come back for the answer.
    async fn wait_for_listeners(&self) {
        self.scope().ended().await;
    }
}
