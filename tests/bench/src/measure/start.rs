//! How long it takes until the program listens, and how much memory it then has.

use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use super::Measuring;
use crate::client::Client;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, PROMPT, Site};

/// How long a program is left alone before its memory counts as that of an idle one.
const IDLE: Duration = Duration::from_millis(300);

impl Measuring<'_> {
    /// Starts with an empty and with a full cache, and the memory of an idle program that has answered once.
    pub(super) fn starts(&mut self) -> Result<Vec<Row>> {
        let row = |name, kind| Row::new(name, kind, self.sites.len());
        let mut cold = row("start to listening, empty cache", Kind::Start);
        let mut warm = row("start to listening, full cache", Kind::Start);
        let mut idle = row("resident memory, idle", Kind::Memory);
        for number in 0..self.plan.cold_starts {
            for program in self.shuffled(self.sites.len()) {
                let site = &self.sites[program];
                // The first of them fills the cache that all later starts use.
                let server = if number == 0 { site.serve(&site.cache())? } else { site.serve_cold()? };
                cold.programs[program].push(one(server.took.as_secs_f64()));
            }
        }
        for _ in 0..self.plan.warm_starts {
            for program in self.shuffled(self.sites.len()) {
                let (took, memory) = warm_start(&self.sites[program])?;
                warm.programs[program].push(one(took));
                idle.programs[program].extend(memory.map(one));
            }
        }
        Ok([cold, warm, idle].into_iter().filter(|row| row.programs.iter().all(|rounds| !rounds.is_empty())).collect())
    }
}

fn warm_start(site: &Site) -> Result<(f64, Option<f64>)> {
    let server = site.serve(&site.cache())?;
    Client::connect(server.address)?.ask(Agent::Echo.model(), PROMPT, false)?;
    sleep(IDLE);
    Ok((server.took.as_secs_f64(), server.resident()))
}

fn one(through: f64) -> Round {
    Round { direct: Vec::new(), through: vec![through] }
}
