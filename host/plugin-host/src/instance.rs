//! One run's instance of a plugin: a store of its own, used for one process and dropped with it.
//!
//! Every call goes through [`Caller::call`], so that none is without limits, and a plugin that failed is not called again.

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
use super::health::Record;
use super::lane::Lane;
use super::limits::{State, count, names_a_limit, rearm, reason, settle, store};
use super::text::one_line;

/// A plugin that fails with a shorter turn than this, in bytes, does not do so for its length.
const LONG_TURN: u64 = 64 * 1024;

/// A plugin's code with memory of its own, before the process is started.
pub struct Instance(Caller);

/// A plugin that listens to a process.
pub struct Transcript {
    caller: Caller,
    transcript: ResourceAny,
}

/// Calls a plugin as long as it can be called.
struct Caller {
    /// Nothing during a call, and after one that failed or was broken off.
    guest: Option<Guest>,
    lane: Lane,
    /// The bytes of the turn that it was handed, as long as it has answered nothing.
    turn: u64,
    /// Where failures are noted; not there while the plugin is only asked what it is.
    record: Option<Arc<Record>>,
}

struct Guest {
    store: Store<State>,
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
    /// Makes a call: here, unless it takes long or is likely to.
    async fn call<T: Send + 'static>(
        &mut self,
        call: &'static str,
        make: impl for<'a> FnOnce(&'a mut Guest) -> Answer<'a, T> + Send + 'static,
    ) -> Result<T, CallError> {
        let mut guest = self.guest.take().ok_or(CallError::Gone)?;
        let made = async move {
            rearm(&mut guest.store);
            let answer = make(&mut guest).await;
            settle(&mut guest.store);
            // What failed is given back where it was, which may take long as well.
            answer.map(|answer| (guest, answer))
        };
        let made = match &self.record {
            Some(record) if !record.begins_in_lane() => self.lane.begin_here(made).await,
            Some(_) | None => self.lane.run(made).await,
        };
        let (made, took) = made.map_err(|_lost| CallError::Gone)?;
        if let Some(record) = &self.record {
            record.took(took);
        }
        match made {
            Ok((guest, answer)) => {
                self.guest = Some(guest);
                Ok(answer)
            }
            Err(error) => Err(self.failed(call, reason(&error))),
        }
    }

    /// The same for a call that hands over events.
    async fn events(
        &mut self,
        call: &'static str,
        make: impl for<'a> FnOnce(&'a mut Guest) -> Answer<'a, Vec<Event>> + Send + 'static,
    ) -> Result<Vec<Event>, CallError> {
        let events = self.call(call, make).await?;
        if events.iter().any(Event::is_answer) {
            self.turn = 0;
        }
        let counted = self.guest.as_mut().map_or(Ok(()), |guest| count(&mut guest.store, &events));
        match counted {
            Ok(()) => Ok(events),
            Err(too_much) => {
                self.guest = None;
                Err(self.failed(call, too_much.to_string()))
            }
        }
    }

    fn failed(&self, call: &'static str, reason: String) -> CallError {
        let error = if self.turn >= LONG_TURN && names_a_limit(&reason) {
            CallError::TooLarge { call, reason }
        } else {
            CallError::Trap { call, reason }
        };
        if let Some(record) = &self.record {
            record.note(&error);
        }
        error
    }
}

impl Instance {
    /// One for a run. Its failures are noted.
    pub(super) async fn open(
        engine: &Engine,
        agent: &Arc<dyn Pre>,
        record: &Arc<Record>,
        limits: &PluginLimits,
    ) -> Result<Self, CallError> {
        let (mut store, agent, lane) = (store(engine, limits), Arc::clone(agent), engine.lane().clone());
        let opened = async move {
            rearm(&mut store);
            let instance = agent.component().instantiate_async(&mut store).await?;
            let agent = agent.agent(&mut store, &instance)?;
            settle(&mut store);
            wasmtime::Result::Ok(Guest { store, agent })
        };
        let opened = if record.begins_in_lane() { lane.run(opened).await } else { lane.begin_here(opened).await };
        let mut caller = Caller { guest: None, lane, turn: 0, record: Some(Arc::clone(record)) };
        match opened.map_err(|_lost| CallError::Gone)?.0 {
            Ok(guest) => {
                caller.guest = Some(guest);
                Ok(Self(caller))
            }
            Err(error) => Err(caller.failed("instantiate", reason(&error))),
        }
    }

    /// The first one of a component: besides, its types are looked at.
    pub(super) async fn first(engine: &Engine, agent: &Arc<dyn Pre>, limits: &PluginLimits) -> Result<Self, LoadError> {
        let (mut store, agent, lane) = (store(engine, limits), Arc::clone(agent), engine.lane().clone());
        let opened = lane.run(async move {
            rearm(&mut store);
            let instance = agent.component().instantiate_async(&mut store).await;
            let instance = instance.map_err(|error| CallError::Trap { call: "instantiate", reason: reason(&error) })?;
            let agent = agent.agent(&mut store, &instance);
            let agent = agent.map_err(|other| LoadError::Types(one_line(&format!("{other:#}"))))?;
            Ok(Guest { store, agent })
        });
        let (opened, _took): (Result<Guest, LoadError>, _) = opened.await.map_err(|_lost| CallError::Gone)?;
        Ok(Self(Caller { guest: Some(opened?), lane, turn: 0, record: None }))
    }

    pub(super) async fn describe(mut self) -> Result<Result<Description, DescriptionError>, CallError> {
        self.0.call("describe", |Guest { store, agent }| agent.describe(store)).await
    }

    /// Makes the command line of a turn. The inner error is the plugin's own refusal.
    ///
    /// # Errors
    /// The plugin traps, or makes a plan that no process could be started with.
    pub async fn prepare(&mut self, turn: &Turn) -> Result<Result<Plan, Failure>, CallError> {
        self.0.turn = turn.bytes();
        let turn = turn.clone();
        let answer = self
            .0
            .call("prepare", move |Guest { store, agent }| Box::pin(async move { agent.prepare(store, &turn).await }));
        match answer.await? {
            Ok(plan) => Ok(Ok(plan?)),
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// Gets ready to listen to the process of a turn.
    ///
    /// # Errors
    /// The plugin traps.
    pub async fn transcript(self, turn: &Turn) -> Result<Transcript, CallError> {
        let (turn, mut caller) = (turn.clone(), Caller { turn: turn.bytes(), ..self.0 });
        let made = caller.call("transcript.constructor", move |Guest { store, agent }| {
            Box::pin(async move { agent.transcript(store, &turn).await })
        });
        let transcript = made.await?;
        Ok(Transcript { caller, transcript })
    }
}

impl Transcript {
    /// A turn begins.
    ///
    /// # Errors
    /// The plugin traps, or hands over too much.
    pub async fn begin(&mut self, turn: &Turn) -> Result<Vec<Event>, CallError> {
        let (turn, this) = (turn.clone(), self.transcript);
        let told = self.caller.events("transcript.begin", move |Guest { store, agent }| {
            Box::pin(async move { agent.begin(store, this, &turn).await })
        });
        told.await
    }

    /// The process said something.
    ///
    /// # Errors
    /// The plugin traps, or hands over too much.
    pub async fn output(&mut self, source: StreamName, text: String) -> Result<Vec<Event>, CallError> {
        let this = self.transcript;
        let told = self.caller.events("transcript.output", move |Guest { store, agent }| {
            Box::pin(async move { agent.output(store, this, source, &text).await })
        });
        told.await
    }

    /// The process ended. What the plugin makes of it counts only if it had not said that the turn was over.
    ///
    /// # Errors
    /// The plugin traps.
    pub async fn exit(mut self, how: ExitStatus) -> Result<Outcome, CallError> {
        let this = self.transcript;
        self.caller.call("transcript.exit", move |Guest { store, agent }| agent.exit(store, this, how)).await
    }
}
