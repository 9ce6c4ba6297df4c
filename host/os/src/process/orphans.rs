//! What is left of runs whose host is gone, and of runs that are over: found by its mark, and ended.

use std::thread::sleep;
use std::time::{Duration, Instant};

use agentbay_domain::RunId;
use rustix::process::Signal;

use super::birth::Birth;
use super::mark::Host;
use super::table::{self, Marked};

/// How often it is looked whether those that were asked to end have done so.
const LOOK: Duration = Duration::from_millis(20);

/// Processes can start others while they are ended: so often is it looked for more.
const ROUNDS: usize = 50;

/// Ends every process that was started for a run by a host that is gone, and says how many there were. Those that do not
/// end within the grace time are killed. Takes as long as that takes.
pub fn end_orphans(grace: Duration) -> usize {
    end(&|marked| !marked.host_lives, None, grace)
}

/// The same for everything that one host has started, which may be about to go.
pub(super) fn end_all_of(host: Host, grace: Duration) -> usize {
    end(&|marked| marked.mark.host == host, Some(host.birth()), grace)
}

/// Kills what is left of a run of this process, wherever it went. The run's CLI was started `since` then.
pub(super) fn kill_rest_of(run: RunId, since: Option<Birth>) -> usize {
    let of_run = |marked: &Marked| marked.mark.run == run && marked.mark.host == Host::this();
    end(&of_run, since, Duration::ZERO)
}

/// Ends those of the processes started `since` then, or whenever.
fn end(which: &dyn Fn(&Marked) -> bool, since: Option<Birth>, grace: Duration) -> usize {
    let found = || -> Vec<Marked> { table::marked(since).into_iter().filter(which).collect() };
    let mut left = found();
    let count = left.len();
    if !grace.is_zero() {
        signal_all(&left, Signal::TERM);
        let until = Instant::now() + grace;
        while !left.is_empty() && Instant::now() < until {
            sleep(LOOK);
            left = found();
        }
    }
    for _round in 0..ROUNDS {
        if left.is_empty() {
            break;
        }
        signal_all(&left, Signal::KILL);
        sleep(LOOK);
        left = found();
    }
    count
}

fn signal_all(processes: &[Marked], signal: Signal) {
    for process in processes {
        table::signal(process, signal);
    }
}
