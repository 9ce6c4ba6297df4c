//! The measurement: the runs, their order, and their figures. The direct CLI and the program alternate in the order ABBA or BAAB, and
//! the programs within a round, at random with a fixed seed, so that changes of the machine affect all equally.

mod rate;
mod start;

use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::answer::Answer;
use crate::client::Client;
use crate::direct;
use crate::plan::{Plan, Share};
use crate::row::{Kind, Round, Row};
use crate::server::Server;
use crate::site::{Agent, PROMPT, Site};

/// The subject of the measurement, and the random order.
#[derive(Debug)]
pub(crate) struct Measuring<'a> {
    pub(crate) sites: &'a [Site],
    pub(crate) plan: Plan,
    pub(crate) end: Instant,
    pub(crate) chance: fastrand::Rng,
}

/// A running server and its client.
struct Running<'a> {
    site: &'a Site,
    server: Server,
    client: Client,
}

/// A kind of run.
#[derive(Debug, Clone, Copy)]
struct Case {
    agent: Agent,
    streamed: bool,
    /// The figure of its first text, if that is one.
    first: Option<&'static str>,
    /// The figure of its end.
    end: &'static str,
}

const CASES: [Case; 5] = [
    Case { agent: Agent::Echo, streamed: false, first: None, end: "echo, whole" },
    Case { agent: Agent::Echo, streamed: true, first: Some("echo, stream: first text"), end: "echo, stream: end" },
    Case { agent: Agent::Replayed, streamed: false, first: None, end: "recorded run, whole" },
    Case {
        agent: Agent::Replayed,
        streamed: true,
        first: Some("recorded run, stream: first text"),
        end: "recorded run, stream: end",
    },
    Case { agent: Agent::Usual, streamed: false, first: None, end: "echo, whole, default `retries`" },
];

const STAMPED: Case = Case { agent: Agent::Stamped, streamed: true, first: None, end: "delay of a delta" };

impl Measuring<'_> {
    /// Measures everything.
    pub(crate) fn rows(&mut self) -> Result<Vec<Row>> {
        let mut rows = self.starts()?;
        let mut running = self.sites.iter().map(Running::new).collect::<Result<Vec<_>>>()?;
        for program in &mut running {
            // First runs are not measured, and every answer has to be correct.
            program.check()?;
        }
        rows.extend(self.times(&mut running)?);
        rows.extend(self.rates(&running)?);
        rows.push(self.delays(&mut running)?);
        Ok(rows)
    }

    /// The duration of a run.
    fn times(&mut self, running: &mut [Running<'_>]) -> Result<Vec<Row>> {
        let row = |name: &str| Row::new(name, Kind::Time, running.len());
        let mut rows = CASES.map(|case| (case.first.map(row), row(case.end)));
        let mut share = Share::of(0.5, self.end, self.plan.rounds);
        while share.next() {
            for number in self.shuffled(CASES.len()) {
                let (case, (first, end)) = (CASES[number], &mut rows[number]);
                for program in self.shuffled(running.len()) {
                    let (mut to_first, mut to_end) = (Round::default(), Round::default());
                    let text = running[program].site.first_text(case.agent);
                    for (direct, through) in self.block(&mut running[program], case)? {
                        let until = |answer: &Answer, bytes| answer.until(bytes).context("no text came");
                        to_first.push(until(&direct, text)?, until(&through, 1)?);
                        to_end.push(direct.whole(), through.whole());
                    }
                    if let Some(first) = first {
                        first.programs[program].push(to_first);
                    }
                    end.programs[program].push(to_end);
                }
            }
        }
        Ok(rows.into_iter().flat_map(|(first, end)| first.into_iter().chain([end])).collect())
    }

    /// The time from the CLI's write of a line to its being read: from its pipe, and from the answer.
    fn delays(&mut self, running: &mut [Running<'_>]) -> Result<Row> {
        let mut row = Row::new(STAMPED.end, Kind::Delay, running.len());
        let mut share = Share::of(1.0, self.end, self.plan.rounds);
        while share.next() {
            for program in self.shuffled(running.len()) {
                let mut round = Round::default();
                for (direct, through) in self.block(&mut running[program], STAMPED)? {
                    round.direct.extend(direct.delays());
                    round.through.extend(through.delays());
                }
                row.programs[program].push(round);
            }
        }
        Ok(row)
    }

    /// Two pairs of a direct run and one through the program, the second pair in the other order.
    fn block(&mut self, running: &mut Running<'_>, case: Case) -> Result<[(Answer, Answer); 2]> {
        let direct_first = self.chance.bool();
        Ok([running.pair(case, direct_first)?, running.pair(case, !direct_first)?])
    }

    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<_> = (0..count).collect();
        self.chance.shuffle(&mut order);
        order
    }
}

impl<'a> Running<'a> {
    fn new(site: &'a Site) -> Result<Self> {
        let server = site.serve(&site.cache())?;
        let client = Client::connect(server.address)?;
        Ok(Self { site, server, client })
    }

    fn pair(&mut self, case: Case, direct_first: bool) -> Result<(Answer, Answer)> {
        if direct_first {
            let direct = self.direct(case)?;
            Ok((direct, self.through(case)?))
        } else {
            let through = self.through(case)?;
            Ok((self.direct(case)?, through))
        }
    }

    fn direct(&self, case: Case) -> Result<Answer> {
        direct::run(&mut self.site.cli(case.agent), PROMPT)
    }

    fn through(&mut self, case: Case) -> Result<Answer> {
        self.client.ask(case.agent.model(), PROMPT, case.streamed)
    }

    /// Runs every case once, and compares the answer with the CLI's output.
    fn check(&mut self) -> Result<()> {
        for case in CASES.into_iter().chain([STAMPED]) {
            let (direct, through) = (self.direct(case)?.text(), self.through(case)?.text());
            let is_right = match case.agent {
                Agent::Echo | Agent::Usual => direct == PROMPT && through == PROMPT,
                Agent::Replayed => self.site.is_replayed(&through),
                Agent::Stamped => direct.matches('.').count() == through.matches('.').count(),
            };
            ensure!(is_right, "{case:?} answers {through:?}");
        }
        Ok(())
    }
}
