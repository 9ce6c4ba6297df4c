//! What holds a plugin: memory by the store's limiter, time by a meter that counts the engine's ticks.
//!
//! The numbers are `domain::PluginLimits`; this is how they are kept.

use std::time::Duration;

use wasmtime::{Store, StoreContextMut, StoreLimits, StoreLimitsBuilder, UpdateDeadline};

use super::engine::{Engine, TICK};
use crate::domain::PluginLimits;

/// What a store carries beside the plugin's own memory.
pub(super) struct State {
    memory: StoreLimits,
    meter: Meter,
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
    let memory = StoreLimitsBuilder::new()
        .memory_size(usize::try_from(limits.memory).unwrap_or(usize::MAX))
        .trap_on_grow_failure(true)
        .build();
    let meter = Meter { call: 0, run: 0, call_limit: ticks(limits.call_cpu), run_limit: ticks(limits.run_cpu) };
    let mut store = Store::new(engine.wasm(), State { memory, meter });
    store.limiter(|state| &mut state.memory);
    store.set_hostcall_fuel(usize::try_from(limits.result).unwrap_or(usize::MAX));
    store.epoch_deadline_callback(look);
    rearm(&mut store);
    store
}

/// Before every call: its time starts anew, and the plugin is looked at from the next tick on.
pub(super) fn rearm(store: &mut Store<State>) {
    store.data_mut().meter.call = 0;
    store.set_epoch_deadline(1);
}

/// At every tick a running plugin lets other tasks run, and is stopped once its time is up.
fn look(mut store: StoreContextMut<'_, State>) -> wasmtime::Result<UpdateDeadline> {
    store.data_mut().meter.tick().map_err(wasmtime::Error::new)?;
    Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
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
    fn a_budget_is_never_rounded_down_to_nothing() {
        assert_eq!(ticks(Duration::from_millis(1)), 1);
        assert_eq!(ticks(Duration::from_millis(250)), 25);
    }
}
