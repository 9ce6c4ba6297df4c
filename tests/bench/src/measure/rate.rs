//! How many runs end in a second, with one client and with as many as the program runs at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::{Measuring, Running};
use crate::client::Client;
use crate::direct;
use crate::plan::Share;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, PROMPT};

/// The clients at once, and the agents that they ask.
const CASES: [(usize, Agent, &str); 4] = [
    (1, Agent::Echo, "echo, 1 at once"),
    (16, Agent::Echo, "echo, 16 at once"),
    (1, Agent::Replayed, "recorded run, 1 at once"),
    (16, Agent::Replayed, "recorded run, 16 at once"),
];

/// This part of a slice goes by before runs are counted.
const UNCOUNTED: f64 = 0.2;

impl Measuring<'_> {
    /// The rates of runs that are not streamed.
    pub(super) fn rates(&mut self, running: &[Running<'_>]) -> Result<Vec<Row>> {
        let mut rows = CASES.map(|(_, _, name)| Row::new(name, Kind::Rate, running.len()));
        let mut share = Share::of(0.7, self.end, self.plan.rounds);
        while share.next() {
            for number in self.shuffled(CASES.len()) {
                let (clients, agent, _) = CASES[number];
                for program in self.shuffled(running.len()) {
                    let round = self.both(&running[program], clients, agent)?;
                    rows[number].programs[program].push(round);
                }
            }
        }
        Ok(rows.into())
    }

    /// One slice of direct runs and one through the program, in either order.
    fn both(&mut self, running: &Running<'_>, clients: usize, agent: Agent) -> Result<Round> {
        let directly = || {
            let mut cli = running.site.cli(agent);
            Ok(move || direct::run(&mut cli, PROMPT).map(drop))
        };
        let through = || {
            let mut client = Client::connect(running.server.address)?;
            Ok(move || client.ask(agent.model(), PROMPT, false).map(drop))
        };
        let mut round = Round::default();
        if self.chance.bool() {
            let direct = rate(clients, self.plan.slice, directly)?;
            round.push(direct, rate(clients, self.plan.slice, through)?);
        } else {
            let through = rate(clients, self.plan.slice, through)?;
            round.push(rate(clients, self.plan.slice, directly)?, through);
        }
        Ok(round)
    }
}

/// Runs that end in a second. Each client begins its next run as soon as one has ended.
fn rate<R: FnMut() -> Result<()>>(
    clients: usize,
    slice: Duration,
    client: impl Fn() -> Result<R> + Sync,
) -> Result<f64> {
    let begun = Instant::now();
    let (count_from, over) = (begun + slice.mul_f64(UNCOUNTED), begun + slice);
    let count = AtomicUsize::new(0);
    let one = || {
        let mut run = client()?;
        while Instant::now() < over {
            run()?;
            if (count_from..over).contains(&Instant::now()) {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        anyhow::Ok(())
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(one)).collect();
        let ended =
            |client: thread::ScopedJoinHandle<'_, Result<()>>| client.join().map_err(|_| anyhow!("a client panics"))?;
        clients.into_iter().try_for_each(ended)
    })?;
    Ok(count.into_inner() as f64 / (over - count_from).as_secs_f64())
}
