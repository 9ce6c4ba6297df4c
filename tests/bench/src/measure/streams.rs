//! The memory of many open streams, each of which has said one word and waits.

use std::fs::File;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use super::Measuring;
use super::crew::together;
use crate::client::Client;
use crate::machine::allow_open_files;
use crate::open_stream::OpenStream;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, HELD, PROMPT, Site};

/// Streams that are opened at once.
const OPENING: usize = 16;

impl Measuring<'_> {
    /// The memory for each stream, and that of the program after all of them have ended.
    pub(super) fn streams(&mut self) -> Result<[Row; 2]> {
        let names = ["memory per open stream", "resident memory after the streams"];
        let mut rows = names.map(|name| Row::new(name, Kind::Memory, self.sites.len()));
        allow_open_files();
        for program in self.shuffled(self.sites.len()) {
            if let Some(figures) = of_streams(&self.sites[program], self.plan.streams, self.plan.settled)? {
                for (row, figure) in rows.iter_mut().zip(figures) {
                    row.programs[program].push(Round::alone(figure));
                }
            }
        }
        Ok(rows)
    }
}

/// Both figures; `None` where the system does not report memory as Linux does.
fn of_streams(site: &Site, streams: usize, settled: Duration) -> Result<Option<[f64; 2]>> {
    let server = site.serve_streams()?;
    Client::connect(server.address)?.ask(Agent::Echo.model(), PROMPT, false)?;
    sleep(settled);
    let before = server.resident();
    let shares = (0..OPENING).map(|number| (number..streams).step_by(OPENING).count()).collect();
    let opened = together(shares, |share: usize| {
        (0..share).map(|_| OpenStream::open(server.address, HELD, PROMPT)).collect::<Result<Vec<_>>>()
    })?;
    sleep(settled);
    let during = server.resident();
    let mut fifo = File::options().read(true).write(true).open(site.fifo())?;
    fifo.write_all(&vec![0; streams])?;
    for stream in opened.into_iter().flatten() {
        stream.finish()?;
    }
    sleep(settled);
    let figures = (before, during, server.resident());
    let (Some(before), Some(during), Some(after)) = figures else { return Ok(None) };
    Ok(Some([(during - before) / streams as f64, after]))
}
