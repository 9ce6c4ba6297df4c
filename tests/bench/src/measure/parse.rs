//! The speed of reading a transcript through a component and natively, and the time that a plugin instance takes. Both are of this
//! checkout's plugin host and plugins, whichever programs are measured.

use std::time::Instant;

use anyhow::{Result, ensure};
use tokio::runtime::Builder;

use super::Measuring;
use crate::group::Group;
use crate::plan::Share;
use crate::row::{Kind, Round, Row};
use crate::transcript::{Component, PARSERS, engine, read};

/// Number of instances in a round.
const INSTANCES: usize = 50;

impl Measuring<'_> {
    /// Bytes per second of each plugin, and its instances.
    pub(super) fn parsed(&mut self) -> Result<Vec<Row>> {
        let cache = tempfile::tempdir()?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let prebuilt = self.fixtures.with_file_name("plugins").join("prebuilt");
        let engine = engine(cache.path())?;
        let mut rows = Vec::new();
        let part = self.plan.pace / (2 * PARSERS.len()) as f64;
        let share = || Share::of(Group::Parse.lasting().mul_f64(part), self.plan.rounds);
        for parser in PARSERS {
            let component = runtime.block_on(parser.component(&engine, &prebuilt))?;
            let pieces = parser.pieces(self.fixtures, self.plan.parsed)?;
            let bytes = pieces.iter().map(String::len).sum::<usize>() as f64;
            let mut row = Row::new(format!("transcript of `{}`", parser.plugin), Kind::Throughput, self.sites.len());
            let mut rounds = share();
            while rounds.next() {
                let native = || {
                    let begun = Instant::now();
                    ((parser.native)(&pieces), bytes / begun.elapsed().as_secs_f64())
                };
                let through = || {
                    runtime.block_on(async {
                        let mut reader = component.reader().await?;
                        let begun = Instant::now();
                        let events = read(&mut reader, &pieces).await?;
                        anyhow::Ok((events, bytes / begun.elapsed().as_secs_f64()))
                    })
                };
                let ((expected, direct), (events, through)) = if self.chance.bool() {
                    let native = native();
                    (native, through()?)
                } else {
                    let through = through()?;
                    (native(), through)
                };
                ensure!(events == expected && events > 0, "{}: {events} events, not {expected}", parser.plugin);
                row.programs[0].push(Round::pair(direct, through));
            }
            let mut instances = Row::new(
                format!("instance of `{}`, made and dropped", parser.plugin),
                Kind::Duration,
                self.sites.len(),
            );
            let mut rounds = share();
            while rounds.next() {
                let times = runtime.block_on(instance_times(&component))?;
                instances.programs[0].push(Round { direct: Vec::new(), through: times });
            }
            rows.extend([row, instances]);
        }
        Ok(rows)
    }
}

async fn instance_times(component: &Component) -> Result<Vec<f64>> {
    let mut times = Vec::with_capacity(INSTANCES);
    for _ in 0..INSTANCES {
        let begun = Instant::now();
        drop(component.instance().await?);
        times.push(begun.elapsed().as_secs_f64());
    }
    Ok(times)
}
