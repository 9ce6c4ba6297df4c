//! The memory of the program.

use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use super::Measuring;
use crate::client::Client;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, PROMPT};

/// How long a program is left alone before its memory counts as that of an idle one.
const IDLE: Duration = Duration::from_millis(300);

/// Number of starts.
const STARTS: usize = 5;

impl Measuring<'_> {
    /// The memory of an idle program that has answered once.
    pub(super) fn memory(&mut self) -> Result<Vec<Row>> {
        let mut idle = Row::new("resident memory, idle", Kind::Memory, self.sites.len());
        for _ in 0..STARTS.min(self.plan.rounds) {
            for program in self.shuffled(self.sites.len()) {
                let site = &self.sites[program];
                let server = site.serve(&site.cache())?;
                Client::connect(server.address)?.ask(Agent::Echo.model(), PROMPT, false)?;
                sleep(IDLE);
                idle.programs[program].extend(server.resident().map(Round::alone));
            }
        }
        Ok([idle].into_iter().filter(Row::is_measured).collect())
    }
}
