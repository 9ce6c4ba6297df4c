//! The machine of the benchmark: its description, without a name, and its load.

use std::process::Command;
use std::time::Duration;
use std::{fs, thread};

/// The share of the processors that other processes may use during the benchmark.
pub(crate) const QUIET: f64 = 0.1;

/// Processor, cores, system, and the number of processes.
pub(crate) fn description() -> String {
    let processor = processor().unwrap_or_else(|| "unknown processor".into());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let system = output("uname", &["-srm"]).unwrap_or_else(|| std::env::consts::OS.into());
    let processes = fs::read_dir("/proc").map(|entries| {
        let is_process = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.parse::<u32>().is_ok());
        entries.flatten().filter(|entry| is_process(&entry.file_name())).count()
    });
    let processes = processes.map_or(String::new(), |count| format!("; {count} processes"));
    format!("{processor}; {cores} cores; {system}{processes}")
}

fn processor() -> Option<String> {
    let of_linux = fs::read_to_string("/proc/cpuinfo").ok().and_then(|cpuinfo| {
        let model = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
        Some(model.split_once(':')?.1.trim().to_owned())
    });
    of_linux.or_else(|| output("sysctl", &["-n", "machdep.cpu.brand_string"]))
}

/// The date, as `2026-11-28`.
pub(crate) fn date() -> String {
    output("date", &["-u", "+%Y-%m-%d"]).unwrap_or_default()
}

/// The share of all processors that is used during the wait; `None` where the system does not report it as Linux does.
pub(crate) fn used(watched: Duration) -> Option<f64> {
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

#[expect(clippy::disallowed_methods, reason = "programs of the system are asked what it is")]
pub(crate) fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
