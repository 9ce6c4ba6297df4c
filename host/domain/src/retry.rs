//! Retry hints, in the forms in which CLIs report them, and the wait that they mean.

use std::time::Duration;

use jiff::civil::{Date, Time};
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};
use serde::Serialize;

/// A time of day as a CLI prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WallClock {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 1 to 31.
    pub day: Option<u8>,
    /// 1 to 12.
    pub month: Option<u8>,
    /// Four digits.
    pub year: Option<u16>,
    /// A zone's name or offset. Without one, the time is in the host's own zone.
    pub zone: Option<String>,
}

/// The longest wait that is reported: quotas last at most a year, so a longer wait is an error of the CLI.
const MAX_WAIT: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// When to retry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryHint {
    /// After this number of milliseconds.
    AfterMs(u64),
    /// At this time, in milliseconds since 1970.
    AtEpochMs(u64),
    /// At the next time at which the clock shows this.
    AtClock(WallClock),
}

impl RetryHint {
    /// Returns the wait from `now`, at most a year. `None` if the time has passed or does not exist.
    pub fn wait(&self, now: Timestamp) -> Option<Duration> {
        let at = match self {
            Self::AfterMs(ms) => return Some(Duration::from_millis(*ms).min(MAX_WAIT)),
            Self::AtEpochMs(ms) => Timestamp::from_millisecond(i64::try_from(*ms).ok()?).ok()?,
            Self::AtClock(clock) => clock.next(now)?,
        };
        Duration::try_from(at.duration_since(now)).ok().map(|wait| wait.min(MAX_WAIT))
    }
}

impl WallClock {
    /// Returns the next time at which a clock in the zone shows this. `None` if that was less than twelve hours ago.
    fn next(&self, now: Timestamp) -> Option<Timestamp> {
        let zone = self.zone.as_deref().map_or_else(|| Some(TimeZone::system()), zone)?;
        let time = Time::new(self.hour.try_into().ok()?, self.minute.try_into().ok()?, 0, 0).ok()?;
        let today = zone.to_datetime(now).date();
        let timestamp = |date: Date| zone.to_timestamp(date.to_datetime(time)).ok();
        let date = Date::new(
            self.year.map_or(Some(today.year()), |year| year.try_into().ok())?,
            self.month.map_or(Some(today.month()), |month| month.try_into().ok())?,
            self.day.map_or(Some(today.day()), |day| day.try_into().ok())?,
        );
        let date = date.ok()?;
        let at = timestamp(date)?;
        if at >= now {
            return Some(at);
        }
        // A recent time of day without a date has passed; waiting for it would waste a day.
        let is_bare = self.day.is_none() && self.month.is_none() && self.year.is_none();
        if is_bare && now.duration_since(at) < SignedDuration::from_hours(12) {
            return None;
        }
        // Any other past time recurs with the smallest period that is not given.
        let period = match (self.year, self.month, self.day) {
            (Some(_), _, _) => return None,
            (None, Some(_), _) => Span::new().years(1),
            (None, None, Some(_)) => Span::new().months(1),
            (None, None, None) => Span::new().days(1),
        };
        timestamp(date.checked_add(period).ok()?)
    }
}

/// Parses a zone's name, such as `Europe/Berlin` or `UTC`, or its offset, such as `+02:00`.
fn zone(name: &str) -> Option<TimeZone> {
    DateTimeParser::new().parse_time_zone(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: &str = "2026-11-27T12:00:00Z";

    fn wait(hint: &RetryHint) -> Option<u64> {
        hint.wait(NOON.parse().unwrap()).map(|wait| wait.as_secs())
    }

    fn clock(hour: u8, minute: u8, zone: &str) -> WallClock {
        WallClock { hour, minute, day: None, month: None, year: None, zone: Some(zone.to_owned()) }
    }

    #[test]
    fn a_time_of_day_is_the_next_such_time_in_its_zone() {
        assert_eq!(wait(&RetryHint::AtClock(clock(15, 30, "UTC"))), Some(3 * 3600 + 1800));
        assert_eq!(wait(&RetryHint::AtClock(clock(15, 0, "Europe/Berlin"))), Some(2 * 3600));
        assert_eq!(wait(&RetryHint::AtClock(clock(23, 59, "Pacific/Auckland"))), Some(23 * 3600 - 60));
        assert_eq!(wait(&RetryHint::AtClock(clock(15, 0, "+02:00"))), Some(3600));
    }

    #[test]
    fn case_025_a_date_with_its_time_is_exact() {
        let date = WallClock { day: Some(30), month: Some(11), year: Some(2026), ..clock(22, 3, "UTC") };
        assert_eq!(wait(&RetryHint::AtClock(date)), Some(295_380));
    }

    #[test]
    fn case_026_a_time_that_has_just_passed_is_not_rolled_over_to_tomorrow() {
        assert_eq!(wait(&RetryHint::AtClock(clock(15, 10, "UTC"))), Some(11_400));
        assert_eq!(wait(&RetryHint::AtClock(clock(11, 58, "UTC"))), None);
        assert_eq!(wait(&RetryHint::AtClock(clock(15, 10, "Mars/Base"))), None);
    }

    #[test]
    fn a_past_date_recurs_with_the_period_that_is_not_given() {
        let next = |day, month, year| {
            wait(&RetryHint::AtClock(WallClock { day, month, year, ..clock(12, 0, "UTC") })).map(|wait| wait / 86_400)
        };
        assert_eq!(next(Some(30), None, None), Some(3));
        assert_eq!(next(Some(26), None, None), Some(29));
        assert_eq!(next(Some(26), Some(11), None), Some(364));
        assert_eq!(next(Some(26), Some(11), Some(2026)), None);
    }

    #[test]
    fn past_and_impossible_times_give_no_wait_and_the_wait_is_limited() {
        assert_eq!(wait(&RetryHint::AfterMs(1500)), Some(1));
        assert_eq!(wait(&RetryHint::AtEpochMs(0)), None);
        assert_eq!(wait(&RetryHint::AtEpochMs(u64::MAX)), None);
        assert_eq!(wait(&RetryHint::AfterMs(u64::MAX)), Some(MAX_WAIT.as_secs()));
        assert_eq!(wait(&RetryHint::AtEpochMs(100_000_000_000_000)), Some(MAX_WAIT.as_secs()));
        assert_eq!(wait(&RetryHint::AtClock(clock(25, 0, "UTC"))), None);
        assert_eq!(wait(&RetryHint::AtClock(clock(1, 0, "Nowhere/Land"))), None);
    }
}
