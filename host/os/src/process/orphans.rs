//! Ends remaining processes of runs whose host is gone and of finished runs, found by their run tag.

use std::thread::sleep;
use std::time::{Duration, Instant};

use agentbay_domain::RunId;
use rustix::process::Signal;

use super::process_table::{self, TaggedProcess};
use super::run_tag::{HostProcess, RunTag};
use super::start_time::StartTime;

/// How often the process table is read while processes end.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum number of kill rounds: processes can start others while they are killed.
const KILL_ROUNDS: usize = 50;

/// Ends every process that was started for a run by a host that is gone, and returns their number. Processes that do not
/// end within the grace time are killed. Blocks until then.
pub fn end_orphans(grace: Duration) -> usize {
    end(&|process| !process.host_is_alive, None, grace)
}

/// The same for all processes that one host has started; the host itself may be about to exit.
pub(super) fn end_started_by(host: HostProcess, grace: Duration) -> usize {
    end(&|process| process.tag.host == host, Some(host.start_time()), grace)
}

/// Kills the remaining processes of a run of this host, including those in other process groups, and returns their number. The
/// run's CLI was started at `since`.
pub(super) fn kill_remaining(run: RunId, since: Option<StartTime>) -> usize {
    let of_run = |process: &TaggedProcess| process.tag == RunTag::of(run);
    end(&of_run, since, Duration::ZERO)
}

/// Ends the selected processes, of those started at `since` or later, or of all.
fn end(which: &dyn Fn(&TaggedProcess) -> bool, since: Option<StartTime>, grace: Duration) -> usize {
    let found = || -> Vec<TaggedProcess> { process_table::tagged(since).into_iter().filter(which).collect() };
    let mut left = found();
    let count = left.len();
    if !grace.is_zero() {
        signal_all(&left, Signal::TERM);
        let until = Instant::now() + grace;
        while !left.is_empty() && Instant::now() < until {
            sleep(POLL_INTERVAL);
            left = found();
        }
    }
    for _round in 0..KILL_ROUNDS {
        if left.is_empty() {
            break;
        }
        signal_all(&left, Signal::KILL);
        sleep(POLL_INTERVAL);
        left = found();
    }
    count
}

fn signal_all(processes: &[TaggedProcess], signal: Signal) {
    for process in processes {
        process_table::signal(process, signal);
    }
}
