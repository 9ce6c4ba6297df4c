//! The clock that all processes of a machine share, so that what one stamps can be compared with what another reads.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The time since some moment before the machine's start.
pub(crate) fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.try_into().unwrap_or_default(), now.tv_nsec.try_into().unwrap_or_default())
}
