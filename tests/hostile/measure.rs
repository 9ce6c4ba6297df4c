//! The effect of a hostile plugin on others: the latency of their requests, and the memory of the program.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Proxy;

/// The measured effect on others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effect {
    /// The 99th percentile of the latency of other requests.
    pub(super) p99: Duration,
    /// The peak memory of the program, in MiB.
    pub(super) memory: u64,
}

/// Sends `count` other requests while `clients` threads repeat `meanwhile`.
pub(super) fn others(proxy: &Proxy, count: usize, meanwhile: impl Fn() + Sync, clients: usize) -> Effect {
    let (over, memory) = (AtomicBool::new(false), AtomicU64::new(0));
    let took = thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    meanwhile();
                }
            });
        }
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                memory.fetch_max(proxy.resident() / 1024, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }
        });
        let _end = Over(&over);
        (0..count).map(|_| ask(proxy)).collect()
    });
    Effect { p99: p99(took), memory: memory.into_inner() }
}

/// Ends the threads, also if a request fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn ask(proxy: &Proxy) -> Duration {
    let started = Instant::now();
    assert_eq!(proxy.ask("echo", "hi"), "hi");
    started.elapsed()
}

fn p99(mut took: Vec<Duration>) -> Duration {
    took.sort();
    took[(took.len() * 99).div_ceil(100) - 1]
}
