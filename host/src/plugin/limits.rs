//! What holds a plugin: memory by the store's limiter, time by a meter that counts the engine's ticks, what it hands over
//! by the store and by `handed`.
//!
//! The numbers are `domain::PluginLimits`; this is how they are kept.

use std::time::Duration;

use wasmtime::{ResourceLimiter, Store, StoreContextMut, UpdateDeadline};

use super::engine::{Engine, TICK};
use super::handed::{Handed, TooMuch};
use crate::domain::{Event, PluginLimits};

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

/// Ticks used, against those allowed.
struct Meter {
    call: u64,
    run: u64,
    call_limit: u64,
    run_limit: u64,
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
    fn tick(&mut self) -> Result<(), TimeUp> {
        self.call += 1;
        self.run += 1;
        if self.call > self.call_limit {
            Err(TimeUp::Call)
        } else if self.run > self.run_limit {
            Err(TimeUp::Run)
        } else {
            Ok(())
        }
    }
}

/// The one place where stores are made: none is without limits.
pub(super) fn store(engine: &Engine, limits: &PluginLimits) -> Store<State> {
    let limit = usize::try_from(limits.memory).unwrap_or(usize::MAX);
    let room = Room { taken: 0, limit, of_each: limits.instances };
    let meter = Meter { call: 0, run: 0, call_limit: ticks(limits.call_cpu), run_limit: ticks(limits.run_cpu) };
    let mut store = Store::new(engine.wasm(), State { room, meter, handed: Handed::new(limits) });
    store.limiter(|state| &mut state.room);
    store.set_hostcall_fuel(usize::try_from(limits.result).unwrap_or(usize::MAX));
    store.set_max_component_handles(HANDLES);
    store.epoch_deadline_callback(look);
    rearm(&mut store);
    store
}

/// Before every call: its time starts anew, and the plugin is looked at from the next tick on.
pub(super) fn rearm(store: &mut Store<State>) {
    store.data_mut().meter.call = 0;
    store.set_epoch_deadline(1);
}

/// Counts what a call handed over.
pub(super) fn count(store: &mut Store<State>, events: &[Event]) -> Result<(), TooMuch> {
    store.data_mut().handed.count(events)
}

/// At every tick a running plugin lets other tasks run, and is stopped once its time is up.
fn look(mut store: StoreContextMut<'_, State>) -> wasmtime::Result<UpdateDeadline> {
    store.data_mut().meter.tick().map_err(wasmtime::Error::new)?;
    Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
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

/// The engine's longer messages as one line, for logs and lists.
pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_millis().div_ceil(TICK.as_millis())).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meter_stops_a_call_and_a_run_each_at_its_own_limit() {
        let mut meter = Meter { call: 0, run: 0, call_limit: 2, run_limit: 3 };
        assert!(meter.tick().is_ok() && meter.tick().is_ok());
        assert!(matches!(meter.tick(), Err(TimeUp::Call)));
        meter.call = 0;
        assert!(matches!(meter.tick(), Err(TimeUp::Run)));
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

    #[test]
    fn a_budget_is_never_rounded_down_to_nothing() {
        assert_eq!(ticks(Duration::from_millis(1)), 1);
        assert_eq!(ticks(Duration::from_millis(250)), 25);
    }
}
