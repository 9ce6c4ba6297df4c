//! The time of a file's last change as the file system records it, and the present in the same clock.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use rustix::time::{ClockId, clock_gettime};

/// The clock from which file systems take the times of files. On Linux it advances in steps of milliseconds: a precise clock
/// would be ahead of a change that follows.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::RealtimeCoarse;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Realtime;

/// The time at which a file's content, name or attributes were last changed. Programs cannot set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime {
    seconds: i64,
    nanoseconds: i64,
}

impl FileTime {
    /// The present. A file that is changed from now on has this time or a later one.
    pub fn now() -> Self {
        let now = clock_gettime(CLOCK);
        Self { seconds: now.tv_sec, nanoseconds: now.tv_nsec }
    }

    /// The time of a file's last change.
    pub(super) fn of(file: &Metadata) -> Self {
        Self { seconds: file.ctime(), nanoseconds: file.ctime_nsec() }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_change_after_the_present_is_not_earlier() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..200 {
            let (file, now) = (dir.path().join(number.to_string()), FileTime::now());
            fs::write(&file, "").unwrap();
            assert!(FileTime::of(&fs::metadata(&file).unwrap()) >= now);
        }
    }
}
