//! Values with a syntax of their own: durations, sizes, counts and paths.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay_domain::Environment;
use bytesize::ByteSize;

use super::section::Item;
use super::tree::Value;

/// Longer than any limit needs, and short enough to be added to any point in time.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// More than any limit needs, and small enough for arithmetic without overflow.
const LARGEST: u64 = 1 << 40;

/// More than any count of runs, requests or retries needs.
const MOST: usize = 1_000_000;

/// Whether zero is a valid value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AllowZero {
    Yes,
    No,
}

/// A duration: a string with units, or a whole number of seconds.
pub(super) fn duration(item: &Item<'_>, zero: AllowZero) -> Option<Duration> {
    let duration = match item.value() {
        Value::Text(text) => match humantime::parse_duration(text) {
            Ok(duration) => duration,
            Err(error) => {
                item.fault(format!("{text:?} is not a duration, such as \"30s\" or \"5m\": {error}"));
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
pub(super) fn size(item: &Item<'_>, zero: AllowZero) -> Option<u64> {
    let size = match item.value() {
        Value::Text(text) => match text.parse::<ByteSize>() {
            Ok(size) => size.as_u64(),
            Err(_) => {
                item.fault(format!("{text:?} is not a size, such as \"64 MiB\" or \"500 kB\""));
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

/// A count.
pub(super) fn count(item: &Item<'_>, zero: AllowZero) -> Option<usize> {
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

fn within<T>(item: &Item<'_>, value: T, is_zero: bool, zero: AllowZero) -> Option<T> {
    if is_zero && zero == AllowZero::No {
        item.fault("must not be zero");
        return None;
    }
    Some(value)
}

/// The base of the relative paths in a file.
pub(super) struct Paths<'a> {
    /// Absolute path of the file's folder.
    pub(super) folder: PathBuf,
    /// The variables, for the user's home.
    pub(super) environment: &'a Environment,
}

impl Paths<'_> {
    /// Returns the absolute path of a value, which may be relative to the user's home or to the file's folder.
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

    /// A program: a path, or a bare name that is searched on PATH later.
    pub(super) fn program(&self, item: &Item<'_>) -> Option<PathBuf> {
        let text = item.full_text()?;
        if text.contains('/') { self.resolve(item) } else { Some(text.into()) }
    }
}

/// Removes the `.` parts of a path. The `..` parts stay: where they lead depends on symbolic links.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}
