//! Load on a model: a number of clients that send one request after the other, or requests at a fixed rate, each sent when it
//! is due, even if earlier ones are not answered yet; and their results.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Proxy, Streamed};

/// The results of the requests.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The answers.
    pub(super) answers: Vec<Streamed>,
    /// Number of requests without an answer.
    pub(super) failed: usize,
    /// Maximum number of requests in flight.
    pub(super) max_in_flight: usize,
    /// From the moment each was due to the end of its answer, shortest first.
    times: Vec<Duration>,
    /// From the first request to the last answer.
    took: Duration,
}

/// Requests in flight.
#[derive(Default)]
struct InFlight {
    now: AtomicUsize,
    max: AtomicUsize,
}

impl InFlight {
    /// Sends a request; `None` if there was no answer.
    fn ask(&self, proxy: &Proxy, model: &str) -> Option<Streamed> {
        self.max.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // A request without an answer panics.
        let answer = thread::scope(|scope| scope.spawn(|| proxy.streamed(model, "one two three")).join().ok());
        self.now.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

/// Sends requests from a number of clients, each as soon as the last was answered, until `is_over`.
pub(super) fn ask_until(proxy: &Proxy, model: &str, clients: usize, is_over: impl Fn() -> bool + Sync) -> Results {
    let (started, in_flight, results) = (Instant::now(), InFlight::default(), Mutex::new(Results::default()));
    thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                while !is_over() {
                    let sent = Instant::now();
                    let answer = in_flight.ask(proxy, model);
                    results.lock().unwrap().add(answer, sent.elapsed());
                }
            });
        }
    });
    results.into_inner().unwrap().finish(&in_flight, started)
}

/// Sends requests at a rate per second for a duration, and waits for all answers.
pub(super) fn ask_at(proxy: &Proxy, model: &str, rate: f64, lasting: Duration) -> Results {
    let (started, in_flight) = (Instant::now(), InFlight::default());
    let (in_flight, mut results) = (&in_flight, Results::default());
    thread::scope(|scope| {
        let one = |due: Instant| (in_flight.ask(proxy, model), due.elapsed());
        let asked: Vec<_> = (0..(lasting.as_secs_f64() * rate) as u32)
            .map(|number| {
                let due = started + Duration::from_secs_f64(f64::from(number) / rate);
                thread::sleep(due.saturating_duration_since(Instant::now()));
                scope.spawn(move || one(due))
            })
            .collect();
        for asked in asked {
            let (answer, time) = asked.join().unwrap();
            results.add(answer, time);
        }
    });
    results.finish(in_flight, started)
}

impl Results {
    fn add(&mut self, answer: Option<Streamed>, time: Duration) {
        match answer {
            Some(answer) => {
                self.answers.push(answer);
                self.times.push(time);
            }
            None => self.failed += 1,
        }
    }

    fn finish(mut self, in_flight: &InFlight, started: Instant) -> Self {
        self.max_in_flight = in_flight.max.load(Ordering::SeqCst);
        self.took = started.elapsed();
        self.times.sort_unstable();
        self
    }

    /// Answers per second.
    pub(super) fn rate(&self) -> f64 {
        self.times.len() as f64 / self.took.as_secs_f64()
    }

    /// The time within which this percentage of the requests was answered.
    fn percentile(&self, percent: usize) -> Duration {
        self.times.get(self.times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, p99, all] = [50, 99, 100].map(|percent| self.percentile(percent).as_millis());
        write!(
            f,
            "{} requests answered and {} not, {:.0} a second, {} in flight at most, p50 {half} ms, p99 {p99} ms, \
             longest {all} ms",
            self.times.len(),
            self.failed,
            self.rate(),
            self.max_in_flight,
        )
    }
}
