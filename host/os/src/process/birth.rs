//! When a process began, as the kernel counts it: what tells two processes of one number apart. The wall clock has no part
//! in it where the system counts otherwise: it is stepped after a sleep, by NTP, in virtual machines.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The start of a process. Two processes have the same number and the same birth only if they are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Birth {
    /// The start of the machine from which `at` is counted; nil where it is counted from 1970.
    boot: Uuid,
    /// In clock ticks since then; in seconds where `boot` is nil.
    at: u64,
}

/// A text is no birth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoBirth;

impl Birth {
    /// Of a process whose birth the system does not show. No process has it.
    pub(super) const UNKNOWN: Self = Self { boot: Uuid::nil(), at: 0 };

    /// The birth of a process that is there and has not ended.
    pub(super) fn of(pid: u32) -> Option<Self> {
        system::birth(pid)
    }

    /// Whether both are counted from the same start of the machine. Otherwise nothing follows from them.
    pub(super) fn is_comparable(self, other: Self) -> bool {
        self.boot == other.boot
    }

    /// Whether it is of the same start of the machine, and not before the other one.
    pub(super) fn is_since(self, other: Self) -> bool {
        self.is_comparable(other) && self.at >= other.at
    }
}

impl fmt::Display for Birth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.at, self.boot.simple())
    }
}

impl FromStr for Birth {
    type Err = NoBirth;

    fn from_str(text: &str) -> Result<Self, NoBirth> {
        let (at, boot) = text.split_once('/').ok_or(NoBirth)?;
        Ok(Self { at: at.parse().map_err(|_| NoBirth)?, boot: Uuid::try_parse(boot).map_err(|_| NoBirth)? })
    }
}

/// Linux counts the ticks from the start of the machine, and names that start.
#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::sync::LazyLock;

    use uuid::Uuid;

    use super::Birth;

    static BOOT: LazyLock<Option<Uuid>> = LazyLock::new(|| {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Uuid::try_parse(boot.trim()).ok()
    });

    pub(super) fn birth(pid: u32) -> Option<Birth> {
        let at = ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        Some(Birth { boot: (*BOOT)?, at })
    }

    /// The start time in the fields of `/proc/PID/stat`, see proc_pid_stat(5). Nothing for one that has ended. The name
    /// of the program stands in brackets and may hold anything.
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
        fn the_ticks_are_read_behind_a_name_that_holds_anything() {
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

/// Elsewhere a process keeps the time at which it was started, which a later step of the clock does not change.
#[cfg(not(target_os = "linux"))]
mod system {
    use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};
    use uuid::Uuid;

    use super::Birth;

    pub(super) fn birth(pid: u32) -> Option<Birth> {
        let pid = sysinfo::Pid::from_u32(pid);
        let mut system = System::new().ok()?;
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, ProcessRefreshKind::nothing());
        let process = system.process(pid).filter(|process| process.status() != ProcessStatus::Zombie)?;
        Some(Birth { boot: Uuid::nil(), at: process.start_time() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_birth_is_told_as_text_and_compared_within_one_start_of_the_machine() {
        let boot = Uuid::from_u128(7);
        let (first, later) = (Birth { boot, at: 5 }, Birth { boot, at: 6 });
        let other = Birth { boot: Uuid::from_u128(8), at: 7 };
        assert_eq!(first.to_string().parse(), Ok(first));
        for text in ["", "5", "5/", "/7", "5/x", "1764300000"] {
            assert_eq!(text.parse::<Birth>(), Err(NoBirth), "{text}");
        }
        assert_eq!([later.is_since(first), first.is_since(first), first.is_since(later)], [true, true, false]);
        assert!(!other.is_since(first) && !first.is_comparable(other));
    }

    #[test]
    fn the_birth_of_a_process_stays_the_same_and_one_that_is_not_there_has_none() {
        let own = Birth::of(std::process::id());
        assert!(own.is_some());
        assert_eq!(Birth::of(std::process::id()), own);
        assert_eq!(Birth::of(u32::MAX / 2), None);
    }
}
