//! The runs through this program and its peers, alternately, each time paired with direct runs. A peer's failures are counted; its
//! failed runs have no times.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::rate::rate;
use super::time::until;
use crate::answer::Answer;
use crate::client::Client;
use crate::direct;
use crate::group::Group;
use crate::peers::Peer;
use crate::plan::{Plan, Share};
use crate::row::{Kind, Round, Row};
use crate::server::resident;
use crate::site::{Agent, PROMPT, Site};

/// The agent of this program.
const AGENT: Agent = Agent::ReplayedDefault;

/// Clients at once.
const CLIENTS: usize = 16;

/// How much longer than usual the rate is measured: with some peers a run at 16 takes as long as a usual slice.
const LONGER: u32 = 4;

/// The wait of a client after a failure.
const PAUSE: Duration = Duration::from_millis(10);

/// A program that is measured.
struct Subject<'a> {
    address: SocketAddr,
    model: &'a str,
    process: u32,
}

/// The measurement.
struct Beside<'a> {
    site: &'a Site,
    plan: Plan,
    chance: fastrand::Rng,
    subjects: Vec<Subject<'a>>,
}

/// The rows; this program is the first in each.
pub(crate) fn rows(site: &Site, plan: Plan, chance: fastrand::Rng, peers: &[Peer]) -> Result<Vec<Row>> {
    let server = site.serve(&site.cache())?;
    let own = Subject { address: server.address, model: AGENT.model(), process: server.process() };
    let peers = peers.iter().map(|peer| Subject { address: peer.address, model: &peer.model, process: peer.process });
    let subjects = [own].into_iter().chain(peers).collect();
    let mut beside = Beside { site, plan, chance, subjects };
    for subject in &beside.subjects {
        // First runs are not measured.
        let _first = [false, true].map(|streamed| beside.ask(subject, streamed));
    }
    for streamed in [false, true] {
        beside.ask(&beside.subjects[0], streamed).context("this program")?;
    }
    let mut rows = beside.times()?;
    rows.extend(beside.rates()?);
    let mut memory = beside.row("resident memory after these runs", Kind::Memory);
    for (rounds, subject) in memory.programs.iter_mut().zip(&beside.subjects) {
        rounds.extend(resident(subject.process).map(Round::alone));
    }
    rows.push(memory);
    Ok(rows)
}

impl Beside<'_> {
    fn row(&self, name: &str, kind: Kind) -> Row {
        Row::new(name, kind, self.subjects.len())
    }

    fn share(&self, part: f64) -> Share {
        Share::of(Group::Peers.lasting().mul_f64(self.plan.pace * part), self.plan.rounds)
    }

    fn shuffled(&mut self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.subjects.len()).collect();
        self.chance.shuffle(&mut order);
        order
    }

    /// One request on a new connection. The answer has to be that of the CLI.
    fn ask(&self, subject: &Subject<'_>, streamed: bool) -> Result<Answer> {
        let answer = Client::connect(subject.address)?.ask(subject.model, PROMPT, streamed)?;
        ensure!(self.site.is_replayed(&answer.text()), "the answer is not that of the CLI");
        Ok(answer)
    }

    fn times(&mut self) -> Result<Vec<Row>> {
        let names = ["whole", "stream: first text", "stream: end"];
        let mut rows = names.map(|name| self.row(name, Kind::Time));
        let mut failed = self.row("one at a time", Kind::Failures);
        let mut share = self.share(0.6);
        while share.next() {
            for number in self.shuffled() {
                for streamed in [false, true] {
                    let direct_first = self.chance.bool();
                    let subject = &self.subjects[number];
                    let direct = || direct::run(&mut self.site.cli(AGENT), PROMPT);
                    let (direct, through) = if direct_first {
                        let direct = direct()?;
                        (direct, self.ask(subject, streamed))
                    } else {
                        let through = self.ask(subject, streamed);
                        (direct()?, through)
                    };
                    failed.programs[number].push(Round::pair(1.0, f64::from(u8::from(through.is_err()))));
                    let Ok(through) = through else { continue };
                    let end = Round::pair(direct.whole(), through.whole());
                    if streamed {
                        let first = until(&direct, self.site.first_text(AGENT))?;
                        rows[1].programs[number].push(Round::pair(first, until(&through, 1)?));
                        rows[2].programs[number].push(end);
                    } else {
                        rows[0].programs[number].push(end);
                    }
                }
            }
        }
        Ok(rows.into_iter().chain([failed]).collect())
    }

    fn rates(&mut self) -> Result<[Row; 2]> {
        let mut rows = [self.row("16 at once", Kind::Rate), self.row("16 at once", Kind::Failures)];
        let (slice, mut share) = (self.plan.slice * LONGER, self.share(0.4));
        while share.next() {
            for number in self.shuffled() {
                let subject = &self.subjects[number];
                let members = (0..CLIENTS).map(|_| self.site.cli(AGENT)).collect();
                let direct = rate(members, slice, |cli| direct::run(cli, PROMPT).map(|_| true))?;
                let (all, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let members = (0..CLIENTS).map(|_| None).collect();
                let through = rate(members, slice, |client: &mut Option<Client>| {
                    all.fetch_add(1, Ordering::Relaxed);
                    let answered = answered(client, subject);
                    if !answered {
                        failed.fetch_add(1, Ordering::Relaxed);
                        *client = None;
                        sleep(PAUSE);
                    }
                    Ok(answered)
                })?;
                rows[0].programs[number].push(Round::pair(direct, through));
                rows[1].programs[number].push(Round::pair(all.into_inner() as f64, failed.into_inner() as f64));
            }
        }
        Ok(rows)
    }
}

/// Whether a request on a kept connection is answered.
fn answered(client: &mut Option<Client>, subject: &Subject<'_>) -> bool {
    if client.is_none() {
        *client = Client::connect(subject.address).ok();
    }
    client.as_mut().is_some_and(|client| client.send(subject.model, PROMPT, false).is_ok())
}
