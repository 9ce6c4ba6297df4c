//! How many runs end in a second, with one client, with as many as the program runs at once, and with more.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::Measuring;
use super::crew::together;
use super::running::Running;
use crate::client::Client;
use crate::direct;
use crate::group::Group;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, PROMPT};

/// The clients at once, and the agents that they ask.
const CASES: [(usize, Agent, &str); 8] = [
    (1, Agent::Echo, "echo, 1 at once"),
    (16, Agent::Echo, "echo, 16 at once"),
    (1, Agent::Replayed, "recorded run, 1 at once"),
    (16, Agent::Replayed, "recorded run, 16 at once"),
    (64, Agent::Replayed, "recorded run, 64 at once"),
    (1, Agent::Computing, "recorded run that computes for 5 ms, 1 at once"),
    (16, Agent::Computing, "recorded run that computes for 5 ms, 16 at once"),
    (64, Agent::Computing, "recorded run that computes for 5 ms, 64 at once"),
];

/// Number of clients of a usual slice.
const USUAL: usize = 16;

/// This part of a slice goes by before runs are counted.
const UNCOUNTED: f64 = 0.2;

impl Measuring<'_> {
    /// The rates of runs that are not streamed.
    pub(super) fn rates(&mut self, running: &[Running<'_>]) -> Result<Vec<Row>> {
        let mut rows = CASES.map(|(_, _, name)| Row::new(name, Kind::Rate, running.len()));
        let mut share = self.share(Group::Rate);
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
    pub(super) fn both(&mut self, running: &Running<'_>, clients: usize, agent: Agent) -> Result<Round> {
        // Longer with more clients, so that the runs that were begun together are a small part.
        let slice = self.plan.slice * clients.div_ceil(USUAL) as u32;
        let directly = || {
            let members = (0..clients).map(|_| running.site.cli(agent)).collect();
            rate(members, slice, |cli| direct::run(cli, PROMPT).map(|_| true))
        };
        let through = || {
            let members = (0..clients).map(|_| Client::connect(running.server.address)).collect::<Result<_>>()?;
            // Answers are not decoded: that takes processor time which the program needs.
            rate(members, slice, |client| client.send(agent.model(), PROMPT, false).map(|_| true))
        };
        let mut round = Round::default();
        if self.chance.bool() {
            let direct = directly()?;
            round.push(direct, through()?);
        } else {
            let through = through()?;
            round.push(directly()?, through);
        }
        Ok(round)
    }
}

/// Runs that succeed in a second. Each client begins its next run as soon as one has ended.
pub(super) fn rate<M: Send>(
    members: Vec<M>,
    slice: Duration,
    run: impl Fn(&mut M) -> Result<bool> + Sync,
) -> Result<f64> {
    let begun = Instant::now();
    let (count_from, over) = (begun + slice.mul_f64(UNCOUNTED), begun + slice);
    let count = AtomicUsize::new(0);
    together(members, |mut member| {
        while Instant::now() < over {
            if run(&mut member)? && (count_from..over).contains(&Instant::now()) {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(count.into_inner() as f64 / (over - count_from).as_secs_f64())
}
