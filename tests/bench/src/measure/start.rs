//! The time until the program listens, and until its first answer.

use anyhow::Result;

use super::Measuring;
use crate::client::Client;
use crate::clock::now;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, PROMPT};

impl Measuring<'_> {
    /// Starts with an empty and with a full cache.
    pub(super) fn starts(&mut self) -> Result<Vec<Row>> {
        let row = |name| Row::new(name, Kind::Duration, self.sites.len());
        let mut cold = row("start to listening, empty cache");
        let mut answered = row("start to first answer of `echo`, empty cache");
        let mut warm = row("start to listening, full cache");
        for number in 0..self.plan.cold_starts {
            for program in self.shuffled(self.sites.len()) {
                let site = &self.sites[program];
                // The first of them fills the cache that all later starts use.
                let server = if number == 0 { site.serve(&site.cache())? } else { site.serve_cold()? };
                cold.programs[program].push(Round::alone(server.took.as_secs_f64()));
                Client::connect(server.address)?.ask(Agent::Echo.model(), PROMPT, false)?;
                answered.programs[program].push(Round::alone((now() - server.begun).as_secs_f64()));
            }
        }
        for _ in 0..self.plan.warm_starts {
            for program in self.shuffled(self.sites.len()) {
                let site = &self.sites[program];
                let server = site.serve(&site.cache())?;
                warm.programs[program].push(Round::alone(server.took.as_secs_f64()));
            }
        }
        Ok([cold, answered, warm].into_iter().filter(Row::is_measured).collect())
    }
}
