//! The extent of the measurement: every part is bounded by a count and by a share of the time.

use std::time::{Duration, Instant};

/// The extent of the measurement.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// The target duration; the current round is finished.
    pub lasting: Duration,
    /// Number of starts with an empty cache, for each program.
    pub cold_starts: usize,
    /// Number of starts with a full cache.
    pub warm_starts: usize,
    /// Maximum number of rounds of the parts that are bounded by time.
    pub rounds: usize,
    /// Duration of one rate measurement.
    pub slice: Duration,
    /// Lines of a stamped stream.
    pub lines: u32,
    /// Duration of the load measurement before and after.
    pub watched: Duration,
}

/// Minimum number of rounds, even if the time is over.
const FEWEST: usize = 1;

impl Plan {
    /// Five minutes at most, for figures to keep.
    pub const FULL: Self = Self {
        lasting: Duration::from_secs(240),
        cold_starts: 3,
        warm_starts: 20,
        rounds: 500,
        slice: Duration::from_millis(500),
        lines: 100,
        watched: Duration::from_secs(2),
    };

    /// 40 seconds at most, for a quick estimate.
    pub const QUICK: Self = Self {
        lasting: Duration::from_secs(28),
        cold_starts: 1,
        warm_starts: 5,
        rounds: 100,
        slice: Duration::from_millis(200),
        lines: 50,
        watched: Duration::from_millis(500),
    };
}

/// A share of the time that is left.
#[derive(Debug)]
pub(crate) struct Share {
    until: Instant,
    rounds: usize,
    done: usize,
}

impl Share {
    /// A share of the time until the end, and a maximum number of rounds.
    pub(crate) fn of(part: f64, end: Instant, rounds: usize) -> Self {
        let now = Instant::now();
        Self { until: now + end.saturating_duration_since(now).mul_f64(part), rounds, done: 0 }
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
            let mut share = Share::of(0.5, Instant::now() + lasting, most);
            std::iter::from_fn(|| share.next().then_some(())).count()
        };
        assert_eq!(rounds(Duration::from_secs(1000), 7), 7);
        assert_eq!(rounds(Duration::ZERO, 7), FEWEST);
    }
}
