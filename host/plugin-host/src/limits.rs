//! What holds a plugin: memory by the store's limiter, processor time by a meter that is read at the engine's
//! ticks, what it hands over by the store and by `handed`.
//!
//! The numbers are `domain::PluginLimits`; this is how they are kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agentbay_domain::{Event, PluginLimits};
use wasmtime::{ResourceLimiter, Store, StoreContextMut, UpdateDeadline};

use super::engine::Engine;
use super::epoch::processor_time;
use super::handed::{Handed, TooMuch};
use super::text::one_line;

/// Handles of resources of one run: the engine keeps a table of them outside the plugin's memory. A plugin needs one.
const HANDLES: usize = 1000;

/// What a store carries beside the plugin's own memory.
pub(super) struct State {
    room: Room,
    meter: Meter,
    handed: Handed,
}

/// What memories and tables have taken together, against what they may, and how many there may be.
struct Room {
    taken: usize,
    limit: usize,
    of_each: usize,
}

/// A plugin wanted to grow beyond its limit.
#[derive(Debug, thiserror::Error)]
#[error("it needs {0} bytes of memory, more than `limits.plugin_memory` allows")]
struct TooLarge(usize);

impl Room {
    /// Makes room for something that grows. What cannot grow so far anyway takes none.
    fn grow(&mut self, now: usize, wanted: usize, most: Option<usize>) -> wasmtime::Result<bool> {
        if most.is_some_and(|most| wanted > most) {
            return Ok(false);
        }
        let taken = self.taken.saturating_add(wanted.saturating_sub(now));
        if taken > self.limit {
            return Err(TooLarge(taken).into());
        }
        self.taken = taken;
        Ok(true)
    }
}

impl ResourceLimiter for Room {
    fn memory_growing(&mut self, now: usize, wanted: usize, most: Option<usize>) -> wasmtime::Result<bool> {
        self.grow(now, wanted, most)
    }

    fn table_growing(&mut self, now: usize, wanted: usize, most: Option<usize>) -> wasmtime::Result<bool> {
        let bytes = |elements: usize| elements.saturating_mul(size_of::<usize>());
        self.grow(bytes(now), bytes(wanted), most.map(bytes))
    }

    fn instances(&self) -> usize {
        self.of_each
    }

    fn tables(&self) -> usize {
        self.of_each
    }

    fn memories(&self) -> usize {
        self.of_each
    }
}

/// Processor time used, against that allowed. It is looked at whenever the engine ticks, and when a call is over.
struct Meter {
    /// What the threads have used for the plugin in this call, until `since`.
    call: Duration,
    /// What was used in earlier calls of the run.
    earlier: Duration,
    /// The processor time of the thread that the plugin runs on, when it was last looked at or began to run there.
    since: Arc<AtomicU64>,
    call_limit: Duration,
    run_limit: Duration,
}

/// Which budget of time was used up.
#[derive(Debug, thiserror::Error)]
enum TimeUp {
    #[error("it used up the time of one call (`limits.plugin_call_cpu`)")]
    Call,
    #[error("it used up the time of one run (`limits.plugin_run_cpu`)")]
    Run,
}

impl Meter {
    fn new(limits: &PluginLimits) -> Self {
        Self {
            call: Duration::ZERO,
            earlier: Duration::ZERO,
            since: Arc::default(),
            call_limit: limits.call_cpu,
            run_limit: limits.run_cpu,
        }
    }

    /// The thread has come so far, and all since it was last looked at was the plugin's.
    fn look(&mut self, now: Duration) -> Result<(), TimeUp> {
        self.call += now.saturating_sub(Duration::from_nanos(self.since.load(Ordering::Relaxed)));
        begin(&self.since, now);
        if self.call > self.call_limit {
            Err(TimeUp::Call)
        } else if self.earlier + self.call > self.run_limit {
            Err(TimeUp::Run)
        } else {
            Ok(())
        }
    }
}

/// The plugin begins to run, or goes on, on a thread that has come so far.
fn begin(since: &AtomicU64, now: Duration) {
    since.store(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// The one place where stores are made: none is without limits. Until it is armed, it stops at once.
pub(super) fn store(engine: &Engine, limits: &PluginLimits) -> Store<State> {
    let limit = usize::try_from(limits.memory).unwrap_or(usize::MAX);
    let room = Room { taken: 0, limit, of_each: limits.instances };
    let mut store = Store::new(engine.wasm(), State { room, meter: Meter::new(limits), handed: Handed::new(limits) });
    store.limiter(|state| &mut state.room);
    store.set_hostcall_fuel(usize::try_from(limits.result).unwrap_or(usize::MAX));
    store.set_max_component_handles(HANDLES);
    store.epoch_deadline_callback(look);
    store
}

/// Before every call, on the thread where it begins: its time starts anew, and the plugin is looked at from the next tick on.
pub(super) fn rearm(store: &mut Store<State>) {
    let meter = &mut store.data_mut().meter;
    meter.call = Duration::ZERO;
    begin(&meter.since, processor_time());
    store.set_epoch_deadline(1);
}

/// After every call, on the thread where it ended: its time is a part of the run's. If it was too much, the next call that
/// comes to a tick is stopped.
pub(super) fn settle(store: &mut Store<State>) {
    let meter = &mut store.data_mut().meter;
    let _too_late = meter.look(processor_time());
    meter.earlier += std::mem::take(&mut meter.call);
}

/// Counts what a call handed over.
pub(super) fn count(store: &mut Store<State>, events: &[Event]) -> Result<(), TooMuch> {
    store.data_mut().handed.count(events)
}

/// At every tick a running plugin lets other tasks run, and is stopped once its time is up. It may go on on another thread.
fn look(mut store: StoreContextMut<'_, State>) -> wasmtime::Result<UpdateDeadline> {
    let meter = &mut store.data_mut().meter;
    meter.look(processor_time()).map_err(wasmtime::Error::new)?;
    let since = Arc::clone(&meter.since);
    let pause = async move {
        tokio::task::yield_now().await;
        begin(&since, processor_time());
    };
    Ok(UpdateDeadline::YieldCustom(1, Box::pin(pause)))
}

/// Why a call failed, in one line. The root cause is the trap or the limit itself; what stands before it is a backtrace of
/// the plugin's own functions.
pub(super) fn reason(error: &wasmtime::Error) -> String {
    let cause = error.root_cause().to_string();
    // The engine has no public types for these.
    if cause.contains("fuel allocated for hostcalls has been exhausted") {
        return "it handed over more at once than `limits.plugin_result` allows".to_owned();
    }
    if cause.contains("resource limit exceeded:") {
        return format!("it has more parts than `limits.plugin_instances` allows: {}", one_line(&cause));
    }
    one_line(&cause)
}

/// Whether that is a limit of what a plugin may use, and no trap of its own.
pub(super) fn names_a_limit(reason: &str) -> bool {
    ["memory", "call_cpu", "run_cpu", "result", "output"]
        .iter()
        .any(|limit| reason.contains(&format!("`limits.plugin_{limit}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_meter_stops_a_call_and_a_run_each_at_its_own_limit() {
        let limits = PluginLimits { call_cpu: ms(20), run_cpu: ms(30), ..PluginLimits::default() };
        let mut meter = Meter::new(&limits);
        assert!(meter.look(ms(10)).is_ok() && meter.look(ms(20)).is_ok());
        assert!(matches!(meter.look(ms(21)), Err(TimeUp::Call)));
        meter.earlier += std::mem::take(&mut meter.call);
        assert!(meter.look(ms(30)).is_ok());
        assert!(matches!(meter.look(ms(31)), Err(TimeUp::Run)));
    }

    #[test]
    fn a_plugin_that_goes_on_on_another_thread_does_not_pay_for_what_that_did_before() {
        let mut meter = Meter::new(&PluginLimits { call_cpu: ms(20), ..PluginLimits::default() });
        assert!(meter.look(ms(15)).is_ok());
        begin(&meter.since, ms(5000));
        assert!(meter.look(ms(5005)).is_ok());
        assert!(matches!(meter.look(ms(5006)), Err(TimeUp::Call)));
    }

    #[test]
    fn memories_and_tables_share_one_room() {
        let mut room = Room { taken: 0, limit: 100, of_each: 1 };
        assert!(room.memory_growing(0, 60, None).unwrap());
        assert!(room.table_growing(0, 2, None).unwrap());
        assert!(!room.memory_growing(60, 90, Some(80)).unwrap(), "what is not done takes nothing");
        assert!(room.memory_growing(60, 84, Some(90)).unwrap());
        let full = room.table_growing(2, 3, None).unwrap_err();
        assert_eq!(full.to_string(), "it needs 108 bytes of memory, more than `limits.plugin_memory` allows");
    }
}
