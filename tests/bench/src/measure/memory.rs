//! The memory of the program.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::Measuring;
use crate::client::Client;
use crate::open_stream::OpenStream;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, LONG, PROMPT};

/// How long a program is left alone before its memory counts as that of an idle one.
const IDLE: Duration = Duration::from_millis(300);

/// Bytes of the text of a line of the long transcript, at least.
const LINE: usize = 880;

/// Number of starts.
const STARTS: usize = 5;

impl Measuring<'_> {
    /// The memory of an idle program that has answered once, with many streams, and with a long transcript.
    pub(super) fn memory(&mut self) -> Result<Vec<Row>> {
        let mut rows = vec![self.idle()?];
        rows.extend(self.streams()?);
        rows.push(self.peak()?);
        Ok(rows.into_iter().filter(Row::is_measured).collect())
    }

    fn idle(&mut self) -> Result<Row> {
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
        Ok(idle)
    }

    /// The largest memory during a long transcript, which the client reads as it comes.
    fn peak(&mut self) -> Result<Row> {
        let mut peak = Row::new("peak memory, long transcript", Kind::Memory, self.sites.len());
        for program in self.shuffled(self.sites.len()) {
            let site = &self.sites[program];
            let server = site.serve(&site.cache())?;
            let bytes = OpenStream::open(server.address, LONG, PROMPT)?.finish()?;
            ensure!(bytes > self.plan.transcript as usize * LINE, "only {bytes} bytes of the long transcript arrive");
            peak.programs[program].extend(server.peak().map(Round::alone));
        }
        Ok(peak)
    }
}
