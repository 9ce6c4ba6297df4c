//! Requests to a model: as many as there are clients, one after the other, or at a steady rate, each sent when it is due
//! whether or not those before it are answered; and what became of them.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    /// How many were out at the same time.
    pub(super) most_at_once: usize,
    /// From the moment each was due to the end of its answer, the shortest first.
    times: Vec<Duration>,
    /// From the first request to the last answer.
    took: Duration,
}

/// Requests that are out.
#[derive(Default)]
struct Out {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Out {
    /// Asks once; `None` if there was no answer.
    fn ask(&self, proxy: &Proxy, model: &str) -> Option<Streamed> {
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Whoever gets no answer panics.
        let answer = thread::scope(|scope| scope.spawn(|| proxy.streamed(model, "one two three")).join().ok());
        self.now.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

/// Asks a model with so many clients, each again as soon as it was answered, until it is over.
pub(super) fn ask_until(proxy: &Proxy, model: &str, clients: usize, is_over: impl Fn() -> bool + Sync) -> Told {
    let (begun, out, told) = (Instant::now(), Out::default(), Mutex::new(Told::default()));
    thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                while !is_over() {
                    let sent = Instant::now();
                    let answer = out.ask(proxy, model);
                    told.lock().unwrap().add(answer, sent.elapsed());
                }
            });
        }
    });
    told.into_inner().unwrap().over(&out, begun)
}

/// Asks a model so often in a second, for so long, and waits for every answer.
pub(super) fn ask_at(proxy: &Proxy, model: &str, rate: f64, lasting: Duration) -> Told {
    let (begun, out) = (Instant::now(), Out::default());
    let (out, mut told) = (&out, Told::default());
    thread::scope(|scope| {
        let one = |due: Instant| (out.ask(proxy, model), due.elapsed());
        let asked: Vec<_> = (0..(lasting.as_secs_f64() * rate) as u32)
            .map(|number| {
                let due = begun + Duration::from_secs_f64(f64::from(number) / rate);
                thread::sleep(due.saturating_duration_since(Instant::now()));
                scope.spawn(move || one(due))
            })
            .collect();
        for asked in asked {
            let (answer, time) = asked.join().unwrap();
            told.add(answer, time);
        }
    });
    told.over(out, begun)
}

impl Told {
    fn add(&mut self, answer: Option<Streamed>, time: Duration) {
        match answer {
            Some(answer) => {
                self.answers.push(answer);
                self.times.push(time);
            }
            None => self.failed += 1,
        }
    }

    fn over(mut self, out: &Out, begun: Instant) -> Self {
        self.most_at_once = out.most.load(Ordering::SeqCst);
        self.took = begun.elapsed();
        self.times.sort_unstable();
        self
    }

    /// Answers in a second.
    pub(super) fn rate(&self) -> f64 {
        self.times.len() as f64 / self.took.as_secs_f64()
    }

    /// So many in a hundred took no longer than this.
    fn percentile(&self, percent: usize) -> Duration {
        self.times.get(self.times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, most, all] = [50, 99, 100].map(|percent| self.percentile(percent).as_millis());
        write!(
            f,
            "{} requests answered and {} not, {:.0} a second, {} at once at the most, p50 {half} ms, p99 {most} ms, \
             longest {all} ms",
            self.times.len(),
            self.failed,
            self.rate(),
            self.most_at_once,
        )
    }
}
