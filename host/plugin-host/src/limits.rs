//! Enforcement of plugin limits: memory by the store's limiter, processor time by a meter that is read at the engine's ticks,
//! results by the store and by `output_budget`.
//!
//! The limits themselves are `domain::PluginLimits`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agentbay_domain::{Event, PluginLimits};
use wasmtime::{ResourceLimiter, Store, StoreContextMut, UpdateDeadline};

use super::engine::Engine;
use super::epoch::processor_time;
use super::output_budget::{BudgetExceeded, OutputBudget};
use super::text::one_line;

/// Maximum resource handles of one run: the engine keeps a table of them outside the plugin's memory. A plugin needs one.
const MAX_HANDLES: usize = 1000;

/// The host's state of a store.
pub(super) struct StoreState {
    memory: MemoryBudget,
    meter: CpuMeter,
    output: OutputBudget,
}

/// Bytes of memories and tables together, with their limit, and the maximum number of items of each kind.
struct MemoryBudget {
    used: usize,
    limit: usize,
    max_items: usize,
}

/// A plugin requested memory beyond its limit.
#[derive(Debug, thiserror::Error)]
#[error("it needs {0} bytes of memory, more than `limits.plugin_memory` allows")]
struct TooLarge(usize);

impl MemoryBudget {
    /// Accounts for growth. A request beyond the item's own maximum fails in the engine and is not counted.
    fn grow(&mut self, now: usize, desired: usize, max: Option<usize>) -> wasmtime::Result<bool> {
        if max.is_some_and(|max| desired > max) {
            return Ok(false);
        }
        let used = self.used.saturating_add(desired.saturating_sub(now));
        if used > self.limit {
            return Err(TooLarge(used).into());
        }
        self.used = used;
        Ok(true)
    }
}

impl ResourceLimiter for MemoryBudget {
    fn memory_growing(&mut self, now: usize, desired: usize, max: Option<usize>) -> wasmtime::Result<bool> {
        self.grow(now, desired, max)
    }

    fn table_growing(&mut self, now: usize, desired: usize, max: Option<usize>) -> wasmtime::Result<bool> {
        let bytes = |elements: usize| elements.saturating_mul(size_of::<usize>());
        self.grow(bytes(now), bytes(desired), max.map(bytes))
    }

    fn instances(&self) -> usize {
        self.max_items
    }

    fn tables(&self) -> usize {
        self.max_items
    }

    fn memories(&self) -> usize {
        self.max_items
    }
}

/// Processor time used, with its limits. It is read at each tick of the engine and at the end of a call.
struct CpuMeter {
    /// Time used in this call, on all threads, until `since`.
    call: Duration,
    /// Time used in earlier calls of the run.
    earlier: Duration,
    /// The processor time of the plugin's current thread at the last reading, or when the plugin started to run on it.
    since: Arc<AtomicU64>,
    call_limit: Duration,
    run_limit: Duration,
}

/// The exceeded time limit.
#[derive(Debug, thiserror::Error)]
enum TimeUp {
    #[error("it used up the time of one call (`limits.plugin_call_cpu`)")]
    Call,
    #[error("it used up the time of one run (`limits.plugin_run_cpu`)")]
    Run,
}

impl CpuMeter {
    fn new(limits: &PluginLimits) -> Self {
        Self {
            call: Duration::ZERO,
            earlier: Duration::ZERO,
            since: Arc::default(),
            call_limit: limits.call_cpu,
            run_limit: limits.run_cpu,
        }
    }

    /// Adds the thread's time since the last reading, all of which was used by the plugin.
    fn record(&mut self, now: Duration) -> Result<(), TimeUp> {
        self.call += now.saturating_sub(Duration::from_nanos(self.since.load(Ordering::Relaxed)));
        mark_start(&self.since, now);
        if self.call > self.call_limit {
            Err(TimeUp::Call)
        } else if self.earlier + self.call > self.run_limit {
            Err(TimeUp::Run)
        } else {
            Ok(())
        }
    }
}

/// Sets the start time for a plugin that starts or continues to run on a thread.
fn mark_start(since: &AtomicU64, now: Duration) {
    since.store(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Creates a store with limits; no store is created elsewhere. A call without [`begin_call`] is stopped at once.
pub(super) fn store(engine: &Engine, limits: &PluginLimits) -> Store<StoreState> {
    let limit = usize::try_from(limits.memory).unwrap_or(usize::MAX);
    let memory = MemoryBudget { used: 0, limit, max_items: limits.instances };
    let mut store = Store::new(
        engine.wasm(),
        StoreState { memory, meter: CpuMeter::new(limits), output: OutputBudget::new(limits) },
    );
    store.limiter(|state| &mut state.memory);
    store.set_hostcall_fuel(usize::try_from(limits.result).unwrap_or(usize::MAX));
    store.set_max_component_handles(MAX_HANDLES);
    store.epoch_deadline_callback(on_tick);
    store
}

/// To be called before every call, on its thread: resets the time of the call and sets the deadline to the next tick.
pub(super) fn begin_call(store: &mut Store<StoreState>) {
    let meter = &mut store.data_mut().meter;
    meter.call = Duration::ZERO;
    mark_start(&meter.since, processor_time());
    store.set_epoch_deadline(1);
}

/// To be called after every call, on the thread where it ended: adds its time to the run. If that exceeds the limit, the
/// next call is stopped at its first tick.
pub(super) fn end_call(store: &mut Store<StoreState>) {
    let meter = &mut store.data_mut().meter;
    let _too_late = meter.record(processor_time());
    meter.earlier += std::mem::take(&mut meter.call);
}

/// Counts the events that a call returned.
pub(super) fn count_events(store: &mut Store<StoreState>, events: &[Event]) -> Result<(), BudgetExceeded> {
    store.data_mut().output.count(events)
}

/// At every tick a running plugin yields to other tasks, and is stopped if its time is used up. It may continue on another
/// thread.
fn on_tick(mut store: StoreContextMut<'_, StoreState>) -> wasmtime::Result<UpdateDeadline> {
    let meter = &mut store.data_mut().meter;
    meter.record(processor_time()).map_err(wasmtime::Error::new)?;
    let since = Arc::clone(&meter.since);
    let pause = async move {
        tokio::task::yield_now().await;
        mark_start(&since, processor_time());
    };
    Ok(UpdateDeadline::YieldCustom(1, Box::pin(pause)))
}

/// The reason why a call failed, on one line. The root cause is the trap or the limit; the error chain before it is a
/// backtrace of the plugin's functions.
pub(super) fn failure_reason(error: &wasmtime::Error) -> String {
    let cause = error.root_cause().to_string();
    // The engine has no public types for these.
    if cause.contains("fuel allocated for hostcalls has been exhausted") {
        return "one call returned more than `limits.plugin_result` allows".to_owned();
    }
    if cause.contains("resource limit exceeded:") {
        return format!(
            "it has more instances, memories or tables than `limits.plugin_instances` allows: {}",
            one_line(&cause)
        );
    }
    one_line(&cause)
}

/// Whether the reason is a limit that a long input can exceed, rather than a trap.
pub(super) fn is_limit(reason: &str) -> bool {
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
    fn the_meter_stops_a_call_and_a_run_at_separate_limits() {
        let limits = PluginLimits { call_cpu: ms(20), run_cpu: ms(30), ..PluginLimits::default() };
        let mut meter = CpuMeter::new(&limits);
        assert!(meter.record(ms(10)).is_ok() && meter.record(ms(20)).is_ok());
        assert!(matches!(meter.record(ms(21)), Err(TimeUp::Call)));
        meter.earlier += std::mem::take(&mut meter.call);
        assert!(meter.record(ms(30)).is_ok());
        assert!(matches!(meter.record(ms(31)), Err(TimeUp::Run)));
    }

    #[test]
    fn a_plugin_that_continues_on_another_thread_is_not_charged_for_earlier_time_of_that_thread() {
        let mut meter = CpuMeter::new(&PluginLimits { call_cpu: ms(20), ..PluginLimits::default() });
        assert!(meter.record(ms(15)).is_ok());
        mark_start(&meter.since, ms(5000));
        assert!(meter.record(ms(5005)).is_ok());
        assert!(matches!(meter.record(ms(5006)), Err(TimeUp::Call)));
    }

    #[test]
    fn memories_and_tables_share_one_budget() {
        let mut memory = MemoryBudget { used: 0, limit: 100, max_items: 1 };
        assert!(memory.memory_growing(0, 60, None).unwrap());
        assert!(memory.table_growing(0, 2, None).unwrap());
        assert!(!memory.memory_growing(60, 90, Some(80)).unwrap(), "growth that fails is not counted");
        assert!(memory.memory_growing(60, 84, Some(90)).unwrap());
        let full = memory.table_growing(2, 3, None).unwrap_err();
        assert_eq!(full.to_string(), "it needs 108 bytes of memory, more than `limits.plugin_memory` allows");
    }
}
