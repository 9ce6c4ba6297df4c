//! The result of one run, direct or through the program.

use std::time::Duration;

/// The text of an answer, with times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    /// The time of the request.
    pub(crate) asked: Duration,
    /// The pieces, each with the time at which it was read.
    pub(crate) pieces: Vec<(Duration, String)>,
    /// The time of the end; for a process, of its exit.
    pub(crate) ended: Duration,
}

impl Answer {
    /// The whole text.
    pub(crate) fn text(&self) -> String {
        self.pieces.iter().map(|(_, piece)| piece.as_str()).collect()
    }

    /// Seconds until the end.
    pub(crate) fn whole(&self) -> f64 {
        (self.ended - self.asked).as_secs_f64()
    }

    /// Seconds until `bytes` bytes had arrived.
    pub(crate) fn until(&self, bytes: usize) -> Option<f64> {
        let mut come = 0;
        let reached = self.pieces.iter().find(|(_, piece)| {
            come += piece.len();
            come >= bytes
        });
        reached.map(|(at, _)| (*at - self.asked).as_secs_f64())
    }

    /// Seconds between each stamp and the read that completes it with its full stop. The text around a stamp has no digits and no full stops.
    pub(crate) fn delays(&self) -> Vec<f64> {
        let mut open = String::new();
        let mut delays = Vec::new();
        for (at, piece) in &self.pieces {
            open += piece;
            while let Some((stamp, rest)) = open.split_once('.') {
                let digits = stamp.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                let stamp = digits.parse().map(Duration::from_nanos);
                delays.extend(stamp.ok().and_then(|stamp| at.checked_sub(stamp)).map(|delay| delay.as_secs_f64()));
                open = rest.to_owned();
            }
        }
        delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_lasts_until_the_stamp_is_whole() {
        let at = Duration::from_nanos;
        let pieces = vec![(at(150), "100.\n{2".into()), (at(260), "00.}\n{220.".into())];
        let answer = Answer { asked: at(50), pieces, ended: at(300) };
        assert_eq!(answer.delays(), [50.0, 60.0, 40.0].map(|delay| delay / 1e9));
        assert_eq!(
            [1, 7, 8, 17, 18].map(|bytes| answer.until(bytes).map(|after| (after * 1e9).round())),
            [Some(100.0), Some(100.0), Some(210.0), Some(210.0), None]
        );
    }
}
