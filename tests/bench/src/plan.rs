//! The extent of the measurement: every part is bounded by a count and by a time.

use std::time::{Duration, Instant};

/// The extent of the measurement.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// The part of each group's time that is used. The current round is finished.
    pub pace: f64,
    /// Number of starts with an empty cache, for each program.
    pub cold_starts: usize,
    /// Number of starts with a full cache.
    pub warm_starts: usize,
    /// Maximum number of rounds of the parts that are bounded by time.
    pub rounds: usize,
    /// Duration of one rate measurement.
    pub slice: Duration,
    /// Number of runs of each client in a burst.
    pub burst: usize,
    /// Lines of a stamped stream.
    pub lines: u32,
    /// Number of processes on a crowded machine.
    pub processes: usize,
    /// Number of files in a large repository.
    pub files: usize,
    /// Number of streams that are open at once.
    pub streams: usize,
    /// How long a program is left alone before and after many streams, before its memory is read.
    pub settled: Duration,
    /// Lines of a long transcript, each of a thousand bytes.
    pub transcript: u32,
    /// Bytes of a transcript that is read by a plugin alone.
    pub parsed: usize,
    /// Bytes of a long prompt.
    pub prompt: usize,
    /// Duration of the load measurement before and after.
    pub watched: Duration,
}

/// Minimum number of rounds, even if the time is over.
const FEWEST: usize = 1;

impl Plan {
    /// Ten minutes at most, for figures to keep.
    pub const FULL: Self = Self {
        pace: 1.0,
        cold_starts: 3,
        warm_starts: 20,
        rounds: 500,
        slice: Duration::from_millis(500),
        burst: 4,
        lines: 100,
        processes: 2_000,
        files: 100_000,
        streams: 1_000,
        settled: Duration::from_secs(2),
        transcript: 100_000,
        parsed: 4 * 1024 * 1024,
        prompt: 8 * 1024 * 1024,
        watched: Duration::from_secs(2),
    };

    /// A minute at most, for a quick estimate.
    pub const QUICK: Self = Self {
        pace: 0.06,
        cold_starts: 1,
        warm_starts: 5,
        rounds: 100,
        slice: Duration::from_millis(200),
        burst: 2,
        lines: 50,
        processes: 500,
        files: 10_000,
        streams: 200,
        settled: Duration::from_secs(2),
        transcript: 20_000,
        parsed: 4 * 1024 * 1024,
        prompt: 8 * 1024 * 1024,
        watched: Duration::from_millis(500),
    };
}

/// A share of the time.
#[derive(Debug)]
pub(crate) struct Share {
    until: Instant,
    rounds: usize,
    done: usize,
}

impl Share {
    /// A duration from now on, and a maximum number of rounds.
    pub(crate) fn of(lasting: Duration, rounds: usize) -> Self {
        Self { until: Instant::now() + lasting, rounds, done: 0 }
    }

    /// Whether another round may begin.
    pub(crate) fn next(&mut self) -> bool {
        let may = self.done < self.rounds && (self.done < FEWEST || Instant::now() < self.until);
        self.done += 1;
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_bounded_by_time_and_by_count() {
        let rounds = |lasting, most| {
            let mut share = Share::of(lasting, most);
            std::iter::from_fn(|| share.next().then_some(())).count()
        };
        assert_eq!(rounds(Duration::from_secs(1000), 7), 7);
        assert_eq!(rounds(Duration::ZERO, 7), FEWEST);
    }
}
