//! The measurement: the runs, their order, and their figures. The direct CLI and the program alternate in the order ABBA or BAAB, and
//! the programs within a round, at random with a fixed seed, so that changes of the machine affect all equally.

pub(crate) mod beside;
mod cancel;
mod crew;
mod crowd;
mod in_flight;
mod memory;
mod parse;
mod rate;
mod reload;
mod running;
mod start;
mod streams;
mod time;

use std::path::Path;

use anyhow::Result;

use crate::answer::Answer;
use crate::group::Group;
use crate::plan::{Plan, Share};
use crate::row::Row;
use crate::site::Site;

use running::{Case, Running};

/// The subject of the measurement, and the random order.
#[derive(Debug)]
pub(crate) struct Measuring<'a> {
    pub(crate) sites: &'a [Site],
    pub(crate) groups: &'a [Group],
    /// The folder of recorded runs.
    pub(crate) fixtures: &'a Path,
    pub(crate) plan: Plan,
    pub(crate) chance: fastrand::Rng,
}

impl Measuring<'_> {
    /// Measures the groups in the order of [`Group::ALL`].
    pub(crate) fn rows(&mut self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        // First, since it fills the cache of compiled plugins.
        if self.groups.contains(&Group::Start) {
            rows.extend(self.starts()?);
        }
        if self.groups.contains(&Group::Memory) {
            rows.extend(self.memory()?);
        }
        if self.groups.contains(&Group::Reload) {
            rows.push(self.reloads()?);
        }
        if self.groups.contains(&Group::Parse) {
            rows.extend(self.parsed()?);
        }
        let rest = [
            Group::Time,
            Group::InFlight,
            Group::Rate,
            Group::Crowd,
            Group::Repository,
            Group::Prompt,
            Group::Delay,
            Group::Cancel,
        ];
        if rest.iter().any(|group| self.groups.contains(group)) {
            rows.extend(self.of_running(&rest)?);
        }
        Ok(rows)
    }

    /// The groups that need only a running server with its default limits.
    fn of_running(&mut self, groups: &[Group]) -> Result<Vec<Row>> {
        let mut running = self.sites.iter().map(Running::new).collect::<Result<Vec<_>>>()?;
        for program in &mut running {
            // First runs are not measured, and every answer has to be correct.
            program.check()?;
        }
        let mut rows = Vec::new();
        for group in groups.iter().filter(|group| self.groups.contains(group)) {
            rows.extend(match group {
                Group::Time => self.times(&mut running)?,
                Group::InFlight => self.in_flight(&running)?,
                Group::Rate => self.rates(&running)?,
                Group::Crowd => self.crowded(&running)?,
                Group::Repository => self.repositories(&mut running)?,
                Group::Delay => vec![self.delays(&mut running)?],
                Group::Prompt => vec![self.long_prompts(&mut running)?],
                Group::Cancel => self.cancellations(&running)?,
                Group::Start | Group::Memory | Group::Reload | Group::Parse | Group::Peers => Vec::new(),
            });
        }
        Ok(rows)
    }

    /// Two pairs of a direct run and one through the program, the second pair in the other order.
    fn block(&mut self, running: &mut Running<'_>, case: Case, prompt: &str) -> Result<[(Answer, Answer); 2]> {
        let direct_first = self.chance.bool();
        Ok([running.pair(case, prompt, direct_first)?, running.pair(case, prompt, !direct_first)?])
    }

    /// The time of a group.
    fn share(&self, group: Group) -> Share {
        Share::of(group.lasting().mul_f64(self.plan.pace), self.plan.rounds)
    }

    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<_> = (0..count).collect();
        self.chance.shuffle(&mut order);
        order
    }
}
