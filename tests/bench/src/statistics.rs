//! Statistics: medians, percentiles, and the comparison of two series of rounds. No measuring, no output.

/// The slowdown that counts.
pub const TOLERATED: f64 = 0.05;

/// Minimum number of rounds for an interval: with fewer, a bootstrap is unreliable.
const FEWEST_ROUNDS: usize = 5;

/// Number of bootstrap samples for an interval.
const DRAWS: usize = 2000;

/// The better one of two figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The lower, as for a time.
    Less,
    /// The higher, as for a rate.
    More,
}

/// The slowdown of the second series relative to the first; negative if it is faster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slowdown {
    /// Of all rounds.
    pub estimate: f64,
    /// The 95 % confidence interval; `None` if there were too few rounds, or no valid first series.
    pub interval: Option<(f64, f64)>,
}

/// The result of comparing a slowdown with the tolerated one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is more.
    Slower,
    /// It is not more.
    NotSlower,
    /// The rounds do not show it.
    Open,
}

/// The median; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let (middle, count) = (sorted.len() / 2, sorted.len());
    let upper = sorted.get(middle)?;
    Some(if count % 2 == 1 { *upper } else { f64::midpoint(sorted[middle - 1], *upper) })
}

/// The percentile by the nearest-rank method.
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    let sorted = sorted(values);
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Compares the medians of two series from the same rounds.
///
/// The interval is a bootstrap of whole rounds, sampled equally for both: common effects of a round, such as a slow moment of the
/// machine, do not count as a difference.
pub fn slowdown(first: &[Vec<f64>], second: &[Vec<f64>], better: Better, seed: u64) -> Option<Slowdown> {
    let rounds = first.len().min(second.len());
    let compare = |chosen: &[usize]| {
        let of = |series: &[Vec<f64>]| {
            let values: Vec<f64> = chosen.iter().flat_map(|round| &series[*round]).copied().collect();
            median(&values).filter(|median| *median > 0.0)
        };
        let (first, second) = (of(first)?, of(second)?);
        Some(match better {
            Better::Less => second / first - 1.0,
            Better::More => first / second - 1.0,
        })
    };
    let all: Vec<usize> = (0..rounds).collect();
    let estimate = compare(&all)?;
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut draw = || compare(&(0..rounds).map(|_| chance.usize(..rounds)).collect::<Vec<_>>());
    let drawn: Option<Vec<f64>> = (rounds >= FEWEST_ROUNDS).then(|| (0..DRAWS).map(|_| draw()).collect()).flatten();
    let interval = drawn.and_then(|drawn| Some((percentile(&drawn, 2.5)?, percentile(&drawn, 97.5)?)));
    Some(Slowdown { estimate, interval })
}

impl Slowdown {
    /// The result.
    pub fn verdict(&self) -> Verdict {
        match self.interval {
            Some((low, _)) if low > TOLERATED => Verdict::Slower,
            Some((_, high)) if high <= TOLERATED => Verdict::NotSlower,
            Some(_) | None => Verdict::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of two samples each around a value, with an unevenness that two series share.
    fn rounds(value: f64, count: usize) -> Vec<Vec<f64>> {
        (0..count)
            .map(|round| (1.0 + (round % 7) as f64 / 10.0) * value)
            .map(|value| vec![value, value * 1.01])
            .collect()
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).rev().collect();
        assert_eq!(percentile(&hundred, 99.0), Some(99.0));
        assert_eq!(percentile(&hundred, 99.5), Some(100.0));
        assert_eq!(percentile(&hundred[..10], 99.0), Some(100.0));
        assert_eq!(percentile(&[7.0], 0.0), Some(7.0));
        assert_eq!(percentile(&[], 99.0), None);
    }

    #[test]
    fn a_difference_is_shown_where_the_interval_lies_on_one_side_of_what_is_tolerated() {
        let compare = |second, better, count| {
            let slowdown = slowdown(&rounds(10.0, count), &rounds(second, count), better, 1).unwrap();
            (slowdown.estimate, slowdown.verdict())
        };
        let near = |(estimate, verdict): (f64, _)| ((estimate * 100.0).round(), verdict);
        assert_eq!(near(compare(12.0, Better::Less, 70)), (20.0, Verdict::Slower));
        assert_eq!(near(compare(12.0, Better::More, 70)), (-17.0, Verdict::NotSlower));
        assert_eq!(near(compare(8.0, Better::More, 70)), (25.0, Verdict::Slower));
        assert_eq!(near(compare(10.0, Better::Less, 70)), (0.0, Verdict::NotSlower));
    }

    #[test]
    fn few_or_scattered_rounds_leave_it_open() {
        let few = slowdown(&rounds(10.0, 4), &rounds(20.0, 4), Better::Less, 1).unwrap();
        assert_eq!((few.interval, few.verdict()), (None, Verdict::Open));
        let scattered: Vec<Vec<f64>> = (1..=20).map(|round| vec![f64::from(round * 7 % 20 + 1)]).collect();
        let other: Vec<Vec<f64>> = (1..=20).map(|round| vec![f64::from(round * 3 % 20 + 1)]).collect();
        let slowdown = slowdown(&scattered, &other, Better::Less, 1).unwrap();
        assert_eq!(slowdown.verdict(), Verdict::Open, "{slowdown:?}");
    }

    #[test]
    fn nothing_is_compared_with_what_took_no_time() {
        assert_eq!(slowdown(&rounds(-1.0, 9), &rounds(1.0, 9), Better::Less, 1), None);
        assert_eq!(slowdown(&[], &[], Better::Less, 1), None);
    }

    #[test]
    fn what_a_round_has_in_common_is_no_difference() {
        // A machine that becomes ten times slower in the middle: pooled samples would show nothing.
        let drift = |value: f64| -> Vec<Vec<f64>> {
            (0..60)
                .map(|round| vec![value * if round < 30 { 1.0 } else { 10.0 } + f64::from(round % 3) / 100.0])
                .collect()
        };
        let slowdown = slowdown(&drift(1.0), &drift(1.5), Better::Less, 1).unwrap();
        assert_eq!(slowdown.verdict(), Verdict::Slower, "{slowdown:?}");
    }
}
