//! What remains of a run when its CLI has ended: processes that have left its group, as daemons do. They carry the tag of the
//! run. They are children of this process where it adopts, and are looked for in the process table where it does not.

use std::collections::HashSet;
use std::thread::sleep;
use std::time::Duration;

use agentbay_domain::RunId;
use rustix::process::{Pid, Signal, getpgid, kill_process};

use super::children;
use super::orphans;
use super::process_table::{self, Tagged};
use super::run_tag::RunTag;
use super::start_time::StartTime;

/// Maximum number of rounds: processes can start others while they are killed.
const ROUNDS: u32 = 60;

/// The wait after the first round. It doubles, up to the largest.
const FIRST_PAUSE: Duration = Duration::from_micros(250);
const LARGEST_PAUSE: Duration = Duration::from_millis(20);

/// The processes of a run besides the group of its CLI.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remains {
    run: RunId,
    /// The CLI, whose number is that of its group.
    leader: Pid,
    /// When it was started, for the search in the process table.
    since: Option<StartTime>,
}

impl Remains {
    /// Those of a run whose CLI has just been started.
    pub(super) fn of(run: RunId, leader: Pid) -> Self {
        let start_time = || StartTime::of(leader.as_raw_nonzero().get().try_into().ok()?);
        Self { run, leader, since: if children::adopts() { None } else { start_time() } }
    }

    /// Whether there may be some. The CLI has ended.
    pub(super) fn may_exist(self) -> bool {
        !children::adopts() || children::may_have_adopted()
    }

    /// Kills them, and returns the number of those that had left the group of the CLI, which has ended. Blocks until they
    /// have ended.
    pub(super) fn kill(self) -> usize {
        if children::adopts() { self.kill_adopted() } else { orphans::kill_remaining(self.run, self.since) }
    }

    /// The same for a CLI that has been killed and may not have ended: its descendants are adopted after its end.
    pub(super) fn kill_after_leader(self) -> usize {
        for pause in pauses() {
            if !children::runs(self.leader) {
                break;
            }
            sleep(pause);
        }
        self.kill()
    }

    fn kill_adopted(self) -> usize {
        // One that ends shows no tag.
        let (mut ending, mut detached) = (HashSet::new(), HashSet::new());
        for pause in pauses() {
            let is_over = children::with_adopted(|adopted| {
                let mut is_unclear = false;
                ending.retain(|process| adopted.contains(process));
                for process in adopted {
                    match process_table::tag(*process) {
                        Tagged::Run(tag) if tag == RunTag::of(self.run) => {
                            if getpgid(Some(*process)) != Ok(self.leader) {
                                detached.insert(*process);
                            }
                            if kill_process(*process, Signal::KILL).is_ok() {
                                ending.insert(*process);
                            }
                        }
                        Tagged::Run(_) | Tagged::Nothing => {}
                        Tagged::Unclear => is_unclear = true,
                    }
                }
                ending.is_empty() && !is_unclear
            });
            if is_over {
                break;
            }
            sleep(pause);
        }
        detached.len()
    }
}

fn pauses() -> impl Iterator<Item = Duration> {
    (0..ROUNDS).map(|round| (FIRST_PAUSE * 2_u32.pow(round.min(10))).min(LARGEST_PAUSE))
}
