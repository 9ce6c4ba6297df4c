//! Requests at a steady rate, each sent when it is due whether or not those before it are answered, and what became of
//! them.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Proxy, Streamed};

/// What became of the requests.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// What was answered.
    pub(super) answers: Vec<Streamed>,
    /// How many were not answered.
    pub(super) failed: usize,
    /// From the moment each was due to the end of its answer, the shortest first.
    times: Vec<Duration>,
    /// From the first request to the last answer.
    took: Duration,
}

/// Asks a model so often in a second, for so long, and waits for every answer.
pub(super) fn ask(proxy: &Proxy, model: &str, rate: u32, lasting: Duration) -> Told {
    let begun = Instant::now();
    let count = (lasting.as_secs_f64() * f64::from(rate)) as u32;
    let mut told = Told::default();
    thread::scope(|scope| {
        let one = |due: Instant| (proxy.streamed(model, "one two three"), due.elapsed());
        let asked: Vec<_> = (0..count)
            .map(|number| {
                let due = begun + Duration::from_secs(1) * number / rate;
                thread::sleep(due.saturating_duration_since(Instant::now()));
                scope.spawn(move || one(due))
            })
            .collect();
        for asked in asked {
            // Whoever got no answer has panicked.
            match asked.join() {
                Ok((answer, time)) => {
                    told.answers.push(answer);
                    told.times.push(time);
                }
                Err(_) => told.failed += 1,
            }
        }
    });
    told.took = begun.elapsed();
    told.times.sort_unstable();
    told
}

impl Told {
    /// So many in a hundred took no longer than this.
    fn percentile(&self, percent: usize) -> Duration {
        self.times.get(self.times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.times.len() as f64 / self.took.as_secs_f64();
        let [half, most, all] = [50, 99, 100].map(|percent| self.percentile(percent).as_millis());
        write!(
            f,
            "{} requests answered and {} not, {rate:.0} a second, p50 {half} ms, p99 {most} ms, longest {all} ms",
            self.times.len(),
            self.failed
        )
    }
}
