//! What others notice of a hostile plugin: how long their requests take, and how much memory the program has.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Proxy;

/// What others noticed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noticed {
    /// Of a hundred requests of others, 99 took no longer.
    pub(super) p99: Duration,
    /// The most memory that the program had, in MiB.
    pub(super) memory: u64,
}

/// Has others ask so many times, while this goes on.
pub(super) fn others(proxy: &Proxy, count: usize, meanwhile: impl Fn() + Sync, clients: usize) -> Noticed {
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
    Noticed { p99: p99(took), memory: memory.into_inner() }
}

/// Ends the others, also if a request fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn ask(proxy: &Proxy) -> Duration {
    let begun = Instant::now();
    assert_eq!(proxy.ask("echo", "hi"), "hi");
    begun.elapsed()
}

fn p99(mut took: Vec<Duration>) -> Duration {
    took.sort();
    took[(took.len() * 99).div_ceil(100) - 1]
}
