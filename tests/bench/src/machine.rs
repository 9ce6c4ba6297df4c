//! The machine of the benchmark: its description, without a name, and its load.

use std::process::Command;
use std::time::Duration;
use std::{fmt, fs, thread};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// The share of the processors that other processes may use during the benchmark.
pub const QUIET: f64 = 0.1;

/// The description of a machine, without its name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's model.
    pub processor: String,
    /// Number of cores that the benchmark may use.
    pub cores: usize,
    /// The system with its version.
    pub system: String,
    /// Number of processes, where the system reports it as Linux does.
    pub processes: Option<usize>,
}

impl Machine {
    /// This machine.
    pub(crate) fn this() -> Self {
        Self {
            processor: processor().unwrap_or_else(|| "unknown processor".into()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            system: output("uname", &["-srm"]).unwrap_or_else(|| std::env::consts::OS.into()),
            processes: processes(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} cores; {}", self.processor, self.cores, self.system)?;
        self.processes.map_or(Ok(()), |count| write!(f, "; {count} processes"))
    }
}

/// The number of processes.
pub(crate) fn processes() -> Option<usize> {
    let is_process = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.parse::<u32>().is_ok());
    let entries = fs::read_dir("/proc").ok()?;
    Some(entries.flatten().filter(|entry| is_process(&entry.file_name())).count()).filter(|count| *count > 0)
}

fn processor() -> Option<String> {
    let of_linux = fs::read_to_string("/proc/cpuinfo").ok().and_then(|cpuinfo| {
        let model = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
        Some(model.split_once(':')?.1.trim().to_owned())
    });
    of_linux.or_else(|| output("sysctl", &["-n", "machdep.cpu.brand_string"]))
}

/// The date and time, as `2026-11-28T10:00:00Z`.
pub(crate) fn date() -> String {
    output("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]).unwrap_or_default()
}

/// The share of all processors that is used during the wait; `None` where the system does not report it as Linux does.
pub fn used(watched: Duration) -> Option<f64> {
    let (idle, all) = processor_time()?;
    thread::sleep(watched);
    let (idle_then, all_then) = processor_time()?;
    let all = all_then.checked_sub(all).filter(|all| *all > 0)?;
    Some(1.0 - idle_then.saturating_sub(idle) as f64 / all as f64)
}

/// The idle ticks of all processors since the start of the machine, and all ticks.
fn processor_time() -> Option<(u64, u64)> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let fields = stat.lines().next()?.split_whitespace().skip(1).take(8);
    let ticks: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
    // Waiting for a disk is idle too.
    Some((ticks.get(3)? + ticks.get(4)?, ticks.iter().sum()))
}

/// Allows this process, and those that it starts, as many open files as the system permits.
pub(crate) fn allow_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // Without it a measurement that needs more fails with the reason.
    let _refused = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

#[expect(clippy::disallowed_methods, reason = "programs of the system are asked what it is")]
pub(crate) fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
