//! The start time of a process as the kernel counts it, which distinguishes two processes with one number. It does not
//! depend on the wall clock where the system has another: the wall clock is stepped after a sleep, by NTP, in virtual machines.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The start time of a process. Number and start time together identify a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StartTime {
    /// The boot from which `at` is counted; nil where it is counted from 1970.
    boot: Uuid,
    /// Clock ticks since the boot; seconds where `boot` is nil.
    at: u64,
}

/// A text is not a start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InvalidStartTime;

impl StartTime {
    /// For a process whose start time the system does not show. No process has it.
    pub(super) const UNKNOWN: Self = Self { boot: Uuid::nil(), at: 0 };

    /// The start time of a process that exists and has not ended.
    pub(super) fn of(pid: u32) -> Option<Self> {
        system::start_time(pid)
    }

    /// Whether both are counted from the same boot. Otherwise they cannot be compared.
    pub(super) fn is_comparable(self, other: Self) -> bool {
        self.boot == other.boot
    }

    /// Whether it is of the same boot and not before the other one.
    pub(super) fn is_since(self, other: Self) -> bool {
        self.is_comparable(other) && self.at >= other.at
    }
}

impl fmt::Display for StartTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.at, self.boot.simple())
    }
}

impl FromStr for StartTime {
    type Err = InvalidStartTime;

    fn from_str(text: &str) -> Result<Self, InvalidStartTime> {
        let (at, boot) = text.split_once('/').ok_or(InvalidStartTime)?;
        Ok(Self {
            at: at.parse().map_err(|_| InvalidStartTime)?,
            boot: Uuid::try_parse(boot).map_err(|_| InvalidStartTime)?,
        })
    }
}

/// Linux counts the ticks from the boot, and each boot has an id.
#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::sync::LazyLock;

    use uuid::Uuid;

    use super::StartTime;

    static BOOT: LazyLock<Option<Uuid>> = LazyLock::new(|| {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Uuid::try_parse(boot.trim()).ok()
    });

    pub(super) fn start_time(pid: u32) -> Option<StartTime> {
        let at = ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        Some(StartTime { boot: (*BOOT)?, at })
    }

    /// The start time in the fields of `/proc/PID/stat`, see proc_pid_stat(5); `None` for a process that has ended. The name
    /// of the program is in parentheses and may contain any character.
    fn ticks(stat: &str) -> Option<u64> {
        const START_AFTER_STATE: usize = 18;
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        if matches!(state, "Z" | "X" | "x") {
            return None;
        }
        fields.nth(START_AFTER_STATE)?.parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_ticks_are_read_behind_a_name_with_any_characters() {
            let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
            for (stat, expected) in [
                (format!("7 (a) Z ) R ( b) S {rest}"), Some(4711)),
                (format!("7 (a) Z {rest}"), None),
                ("7 (a) S 1 2".to_owned(), None),
                (String::new(), None),
            ] {
                assert_eq!(ticks(&stat), expected, "{stat}");
            }
        }
    }
}

/// Other systems keep the wall clock time of the start, which a later step of the clock does not change.
#[cfg(not(target_os = "linux"))]
mod system {
    use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};
    use uuid::Uuid;

    use super::StartTime;

    pub(super) fn start_time(pid: u32) -> Option<StartTime> {
        let pid = sysinfo::Pid::from_u32(pid);
        let mut system = System::new().ok()?;
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, ProcessRefreshKind::nothing());
        let process = system.process(pid).filter(|process| process.status() != ProcessStatus::Zombie)?;
        Some(StartTime { boot: Uuid::nil(), at: process.start_time() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_time_is_parsed_from_its_text_and_compared_within_one_boot() {
        let boot = Uuid::from_u128(7);
        let (first, later) = (StartTime { boot, at: 5 }, StartTime { boot, at: 6 });
        let other = StartTime { boot: Uuid::from_u128(8), at: 7 };
        assert_eq!(first.to_string().parse(), Ok(first));
        for text in ["", "5", "5/", "/7", "5/x", "1764300000"] {
            assert_eq!(text.parse::<StartTime>(), Err(InvalidStartTime), "{text}");
        }
        assert_eq!([later.is_since(first), first.is_since(first), first.is_since(later)], [true, true, false]);
        assert!(!other.is_since(first) && !first.is_comparable(other));
    }

    #[test]
    fn the_start_time_of_a_process_is_constant_and_a_missing_process_has_none() {
        let own = StartTime::of(std::process::id());
        assert!(own.is_some());
        assert_eq!(StartTime::of(std::process::id()), own);
        assert_eq!(StartTime::of(u32::MAX / 2), None);
    }
}
