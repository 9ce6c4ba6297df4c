//! Values that are written in a form of their own: durations, sizes and paths.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay_domain::Environment;
use bytesize::ByteSize;

use super::section::Item;
use super::tree::Value;

/// Longer than anything here lasts, and short enough to be added to any point in time.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// More than any of the limits can use, and safe to count with.
const LARGEST: u64 = 1 << 40;

/// More than a machine runs, waits for or tries.
const MOST: usize = 1_000_000;

/// Whether nothing at all is a value that makes sense.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Zero {
    Allowed,
    Refused,
}

/// A duration: a string with units, or a whole number of seconds.
pub(super) fn duration(item: &Item<'_>, zero: Zero) -> Option<Duration> {
    let duration = match item.value() {
        Value::Text(text) => match humantime::parse_duration(text) {
            Ok(duration) => duration,
            Err(error) => {
                item.fault(format!("{text:?} is no duration, such as \"30s\" or \"5m\": {error}"));
                return None;
            }
        },
        Value::Integer(seconds) => match u64::try_from(*seconds) {
            Ok(seconds) => Duration::from_secs(seconds),
            Err(_) => {
                item.fault("must not be negative");
                return None;
            }
        },
        _ => {
            item.wrong_type("a duration, such as \"30s\", or a number of seconds");
            return None;
        }
    };
    if duration > LONGEST {
        item.fault("must not be longer than 366 days");
        return None;
    }
    within(item, duration, duration.is_zero(), zero)
}

/// A size: a string with units, or a number of bytes.
pub(super) fn size(item: &Item<'_>, zero: Zero) -> Option<u64> {
    let size = match item.value() {
        Value::Text(text) => match text.parse::<ByteSize>() {
            Ok(size) => size.as_u64(),
            Err(_) => {
                item.fault(format!("{text:?} is no size, such as \"64 MiB\" or \"500 kB\""));
                return None;
            }
        },
        Value::Integer(bytes) => match u64::try_from(*bytes) {
            Ok(bytes) => bytes,
            Err(_) => {
                item.fault("must not be negative");
                return None;
            }
        },
        _ => {
            item.wrong_type("a size, such as \"64 MiB\", or a number of bytes");
            return None;
        }
    };
    if size > LARGEST {
        item.fault("must not be larger than 1 TiB");
        return None;
    }
    within(item, size, size == 0, zero)
}

/// A number of things.
pub(super) fn count(item: &Item<'_>, zero: Zero) -> Option<usize> {
    let Value::Integer(number) = item.value() else {
        item.wrong_type("a whole number");
        return None;
    };
    match usize::try_from(*number) {
        Ok(count) if count <= MOST => within(item, count, count == 0, zero),
        Ok(_) => {
            item.fault(format!("must not be more than {MOST}"));
            None
        }
        Err(_) => {
            item.fault("must not be negative");
            None
        }
    }
}

fn within<T>(item: &Item<'_>, value: T, is_zero: bool, zero: Zero) -> Option<T> {
    if is_zero && zero == Zero::Refused {
        item.fault("must not be zero");
        return None;
    }
    Some(value)
}

/// What paths in a file are relative to.
pub(super) struct Paths<'a> {
    /// The file's folder: absolute.
    pub(super) folder: PathBuf,
    /// Knows the user's home.
    pub(super) environment: &'a Environment,
}

impl Paths<'_> {
    /// The path that a value names: absolute, or from the user's home, or from the file's folder.
    pub(super) fn resolve(&self, item: &Item<'_>) -> Option<PathBuf> {
        let text = item.full_text()?;
        let Some(in_home) = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
            return Some(plain(&self.folder.join(text)));
        };
        let Some(home) = self.environment.absolute_path("HOME") else {
            item.fault("begins with `~`, but HOME is not set: write an absolute path");
            return None;
        };
        Some(plain(&home.join(in_home.trim_start_matches('/'))))
    }

    /// A program: a path, or a bare name to be looked for later.
    pub(super) fn program(&self, item: &Item<'_>) -> Option<PathBuf> {
        let text = item.full_text()?;
        if text.contains('/') { self.resolve(item) } else { Some(text.into()) }
    }
}

/// The same path without its `.` parts. Those that go up stay: what they lead to depends on symbolic links.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}
