//! One run's instance of a plugin: a store of its own, used for one process and dropped with it.

use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::abi::v0_1;
use super::engine::Engine;
use super::error::CallError;
use super::limits::{State, rearm, reason, store};
use crate::domain::{
    Description, DescriptionError, Event, ExitStatus, Failure, Outcome, Plan, PluginLimits, StreamName, Turn,
};

/// A plugin's code with memory of its own, before the process is started.
pub struct Instance {
    store: Store<State>,
    agent: v0_1::Agent,
}

/// A plugin that listens to a process.
pub struct Transcript {
    instance: Instance,
    transcript: ResourceAny,
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instance").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Transcript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transcript").finish_non_exhaustive()
    }
}

impl Instance {
    pub(super) async fn open(engine: &Engine, agent: &v0_1::Pre, limits: &PluginLimits) -> Result<Self, CallError> {
        let mut store = store(engine, limits);
        let agent = agent.instantiate_async(&mut store).await.map_err(trap("instantiate"))?;
        Ok(Self { store, agent })
    }

    pub(super) async fn describe(mut self) -> Result<Result<Description, DescriptionError>, CallError> {
        rearm(&mut self.store);
        let guest = self.agent.agentbay_plugin_agent();
        let description = guest.call_describe(&mut self.store).await.map_err(trap("describe"))?;
        Ok(description.try_into())
    }

    /// Makes the command line of a turn. The inner error is the plugin's own refusal.
    ///
    /// # Errors
    /// The plugin traps, or makes a plan that no process could be started with.
    pub async fn prepare(&mut self, turn: &Turn) -> Result<Result<Plan, Failure>, CallError> {
        rearm(&mut self.store);
        let guest = self.agent.agentbay_plugin_agent();
        let answer = guest.call_prepare(&mut self.store, &turn.into()).await.map_err(trap("prepare"))?;
        match answer {
            Ok(plan) => Ok(Ok(plan.try_into()?)),
            Err(failure) => Ok(Err(failure.into())),
        }
    }

    /// Gets ready to listen to the process of a turn.
    ///
    /// # Errors
    /// The plugin traps.
    pub async fn transcript(mut self, turn: &Turn) -> Result<Transcript, CallError> {
        rearm(&mut self.store);
        let guest = self.agent.agentbay_plugin_agent().transcript();
        let transcript =
            guest.call_constructor(&mut self.store, &turn.into()).await.map_err(trap("transcript.constructor"))?;
        Ok(Transcript { instance: self, transcript })
    }
}

impl Transcript {
    /// A turn begins.
    ///
    /// # Errors
    /// The plugin traps.
    pub async fn begin(&mut self, turn: &Turn) -> Result<Vec<Event>, CallError> {
        let Instance { store, agent } = &mut self.instance;
        rearm(store);
        let guest = agent.agentbay_plugin_agent().transcript();
        let events = guest.call_begin(store, self.transcript, &turn.into()).await.map_err(trap("transcript.begin"))?;
        Ok(events.into_iter().map(Event::from).collect())
    }

    /// The process said something.
    ///
    /// # Errors
    /// The plugin traps.
    pub async fn output(&mut self, source: StreamName, text: &str) -> Result<Vec<Event>, CallError> {
        let Instance { store, agent } = &mut self.instance;
        rearm(store);
        let guest = agent.agentbay_plugin_agent().transcript();
        let events =
            guest.call_output(store, self.transcript, source.into(), text).await.map_err(trap("transcript.output"))?;
        Ok(events.into_iter().map(Event::from).collect())
    }

    /// The process ended. What the plugin makes of it counts only if it had not said that the turn was over.
    ///
    /// # Errors
    /// The plugin traps.
    pub async fn exit(mut self, how: ExitStatus) -> Result<Outcome, CallError> {
        let Instance { store, agent } = &mut self.instance;
        rearm(store);
        let guest = agent.agentbay_plugin_agent().transcript();
        let outcome = guest.call_exit(store, self.transcript, how.into()).await.map_err(trap("transcript.exit"))?;
        Ok(outcome.into())
    }
}

fn trap(call: &'static str) -> impl Fn(wasmtime::Error) -> CallError {
    move |error| CallError::Trap { call, reason: reason(&error) }
}
