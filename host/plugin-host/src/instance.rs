//! The plugin instance of a run: a separate store, used for one process and dropped with it.
//!
//! Every call goes through [`Caller::call`], so that each has limits, and a plugin that failed is not called again.

use std::fmt;
use std::sync::Arc;

use agentbay_domain::{
    Description, DescriptionError, Event, ExitStatus, Failure, Outcome, Plan, PluginLimits, StreamName, Turn,
};
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::abi::{Agent, Answer, Pre};
use super::engine::Engine;
use super::error::{CallError, LoadError};
use super::executor::Executor;
use super::health::HealthTracker;
use super::limits::{StoreState, begin_call, count_events, end_call, failure_reason, is_limit, store};
use super::text::one_line;

/// With a turn below this number of bytes, the length of the turn is not taken for the cause of a failure.
const LONG_TURN: u64 = 64 * 1024;

/// A plugin instance before the process is started.
pub struct Instance(Caller);

/// A plugin instance that reads the output of a process.
pub struct Transcript {
    caller: Caller,
    transcript: ResourceAny,
}

/// Makes calls into a plugin instance.
struct Caller {
    /// `None` during a call, and after one that failed or was cancelled.
    guest: Option<Guest>,
    executor: Executor,
    /// The bytes of the turn that was passed to it, until it returns part of an answer.
    turn: u64,
    /// Records failures; `None` while the plugin is being loaded.
    health: Option<Arc<HealthTracker>>,
}

struct Guest {
    store: Store<StoreState>,
    agent: Box<dyn Agent>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").finish_non_exhaustive()
    }
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transcript").finish_non_exhaustive()
    }
}

impl Caller {
    /// Makes a call: inline, unless it takes long or is likely to.
    async fn call<T: Send + 'static>(
        &mut self,
        call: &'static str,
        make: impl for<'a> FnOnce(&'a mut Guest) -> Answer<'a, T> + Send + 'static,
    ) -> Result<T, CallError> {
        let mut guest = self.guest.take().ok_or(CallError::Unusable)?;
        let made = async move {
            begin_call(&mut guest.store);
            let answer = make(&mut guest).await;
            end_call(&mut guest.store);
            // A failed guest is dropped on this thread, since that may take long as well.
            answer.map(|answer| (guest, answer))
        };
        let made = match &self.health {
            Some(health) if !health.should_offload() => self.executor.run_inline_first(made).await,
            Some(_) | None => self.executor.run(made).await,
        };
        let (made, took) = made.map_err(|_lost| CallError::Unusable)?;
        if let Some(health) = &self.health {
            health.record_duration(took);
        }
        match made {
            Ok((guest, answer)) => {
                self.guest = Some(guest);
                Ok(answer)
            }
            Err(error) => Err(self.failed(call, failure_reason(&error))),
        }
    }

    /// The same for a call that returns events.
    async fn events(
        &mut self,
        call: &'static str,
        make: impl for<'a> FnOnce(&'a mut Guest) -> Answer<'a, Vec<Event>> + Send + 'static,
    ) -> Result<Vec<Event>, CallError> {
        let events = self.call(call, make).await?;
        if events.iter().any(Event::is_answer) {
            self.turn = 0;
        }
        let counted = self.guest.as_mut().map_or(Ok(()), |guest| count_events(&mut guest.store, &events));
        match counted {
            Ok(()) => Ok(events),
            Err(too_much) => {
                self.guest = None;
                Err(self.failed(call, too_much.to_string()))
            }
        }
    }

    fn failed(&self, call: &'static str, reason: String) -> CallError {
        let error = if self.turn >= LONG_TURN && is_limit(&reason) {
            CallError::TooLarge { call, reason }
        } else {
            CallError::Trap { call, reason }
        };
        if let Some(health) = &self.health {
            health.record(&error);
        }
        error
    }
}

impl Instance {
    /// Creates the instance of a run. Its failures are recorded.
    pub(super) async fn open(
        engine: &Engine,
        agent: &Arc<dyn Pre>,
        health: &Arc<HealthTracker>,
        limits: &PluginLimits,
    ) -> Result<Self, CallError> {
        let (mut store, agent, executor) = (store(engine, limits), Arc::clone(agent), engine.executor().clone());
        let opened = async move {
            begin_call(&mut store);
            let instance = agent.component().instantiate_async(&mut store).await?;
            let agent = agent.agent(&mut store, &instance)?;
            end_call(&mut store);
            wasmtime::Result::Ok(Guest { store, agent })
        };
        let opened =
            if health.should_offload() { executor.run(opened).await } else { executor.run_inline_first(opened).await };
        let mut caller = Caller { guest: None, executor, turn: 0, health: Some(Arc::clone(health)) };
        match opened.map_err(|_lost| CallError::Unusable)?.0 {
            Ok(guest) => {
                caller.guest = Some(guest);
                Ok(Self(caller))
            }
            Err(error) => Err(caller.failed("instantiate", failure_reason(&error))),
        }
    }

    /// Creates the first instance of a component, and checks its types.
    pub(super) async fn first(engine: &Engine, agent: &Arc<dyn Pre>, limits: &PluginLimits) -> Result<Self, LoadError> {
        let (mut store, agent, executor) = (store(engine, limits), Arc::clone(agent), engine.executor().clone());
        let opened = executor.run(async move {
            begin_call(&mut store);
            let instance = agent.component().instantiate_async(&mut store).await;
            let instance =
                instance.map_err(|error| CallError::Trap { call: "instantiate", reason: failure_reason(&error) })?;
            let agent = agent.agent(&mut store, &instance);
            let agent = agent.map_err(|other| LoadError::Types(one_line(&format!("{other:#}"))))?;
            Ok(Guest { store, agent })
        });
        let (opened, _took): (Result<Guest, LoadError>, _) = opened.await.map_err(|_lost| CallError::Unusable)?;
        Ok(Self(Caller { guest: Some(opened?), executor, turn: 0, health: None }))
    }

    pub(super) async fn describe(mut self) -> Result<Result<Description, DescriptionError>, CallError> {
        self.0.call("describe", |Guest { store, agent }| agent.describe(store)).await
    }

    /// Returns the plan for a turn. The inner error is the plugin's refusal.
    ///
    /// # Errors
    /// The plugin traps, or its plan is invalid.
    pub async fn prepare(&mut self, turn: &Turn) -> Result<Result<Plan, Failure>, CallError> {
        self.0.turn = turn.json_len();
        let turn = turn.clone();
        let answer = self
            .0
            .call("prepare", move |Guest { store, agent }| Box::pin(async move { agent.prepare(store, &turn).await }));
        match answer.await? {
            Ok(plan) => Ok(Ok(plan?)),
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// Creates the transcript for the process of a turn.
    ///
    /// # Errors
    /// The plugin traps.
    pub async fn transcript(self, turn: &Turn) -> Result<Transcript, CallError> {
        let (turn, mut caller) = (turn.clone(), Caller { turn: turn.json_len(), ..self.0 });
        let made = caller.call("transcript.constructor", move |Guest { store, agent }| {
            Box::pin(async move { agent.transcript(store, &turn).await })
        });
        let transcript = made.await?;
        Ok(Transcript { caller, transcript })
    }
}

impl Transcript {
    /// Starts a turn.
    ///
    /// # Errors
    /// The plugin traps, or returns too much.
    pub async fn begin(&mut self, turn: &Turn) -> Result<Vec<Event>, CallError> {
        let (turn, this) = (turn.clone(), self.transcript);
        let events = self.caller.events("transcript.begin", move |Guest { store, agent }| {
            Box::pin(async move { agent.begin(store, this, &turn).await })
        });
        events.await
    }

    /// Passes output of the process.
    ///
    /// # Errors
    /// The plugin traps, or returns too much.
    pub async fn output(&mut self, source: StreamName, text: String) -> Result<Vec<Event>, CallError> {
        let this = self.transcript;
        let events = self.caller.events("transcript.output", move |Guest { store, agent }| {
            Box::pin(async move { agent.output(store, this, source, &text).await })
        });
        events.await
    }

    /// Passes the end of the process. The outcome counts only if the plugin has not reported the end of the turn before.
    ///
    /// # Errors
    /// The plugin traps.
    pub async fn exit(mut self, how: ExitStatus) -> Result<Outcome, CallError> {
        let this = self.transcript;
        self.caller.call("transcript.exit", move |Guest { store, agent }| agent.exit(store, this, how)).await
    }
}
