//! Runs per second on a machine with many other processes.

use anyhow::Result;

use super::Measuring;
use super::running::Running;
use crate::crowd::Crowd;
use crate::group::Group;
use crate::machine;
use crate::row::{Kind, Row};
use crate::site::Agent;

/// Clients at once.
const CLIENTS: usize = 16;

/// Number of slices for each start of the other processes.
const SLICES: usize = 2;

impl Measuring<'_> {
    /// The rates with the usual number of processes and with many, alternately.
    pub(super) fn crowded(&mut self, running: &[Running<'_>]) -> Result<Vec<Row>> {
        let names = ["recorded run, 16 at once, few other processes", "recorded run, 16 at once, many other processes"];
        let mut rows = names.map(|name| Row::new(name, Kind::Rate, running.len()));
        let missing = self.plan.processes.saturating_sub(machine::processes().unwrap_or(0));
        let mut share = self.share(Group::Crowd);
        while share.next() {
            for number in self.shuffled(rows.len()) {
                let idle = self.sites[0].idle_cli();
                let _crowd = if number == 1 { Some(Crowd::start(missing, idle)?) } else { None };
                for _ in 0..SLICES {
                    for program in self.shuffled(running.len()) {
                        let round = self.both(&running[program], CLIENTS, Agent::Replayed)?;
                        rows[number].programs[program].push(round);
                    }
                }
            }
        }
        Ok(rows.into())
    }
}
