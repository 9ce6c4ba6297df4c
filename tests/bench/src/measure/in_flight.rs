//! The duration of a run while others are in flight: bursts of a number of clients, each of which sends its next request as soon as
//! the last was answered, and equal bursts of direct runs.

use anyhow::Result;

use super::Measuring;
use super::crew::together;
use super::running::{Case, Running};
use super::time::until;
use crate::answer::Answer;
use crate::client::Client;
use crate::direct;
use crate::group::Group;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, PROMPT};

/// Numbers of clients. A single one is the group `time`.
const CLIENTS: [usize; 3] = [4, 16, 64];

/// A number of clients, and whether their answers are streamed.
const fn case(clients: usize, streamed: bool) -> (usize, Case) {
    (clients, Case { agent: Agent::Replayed, streamed })
}

impl Measuring<'_> {
    /// The times of the recorded run.
    pub(super) fn in_flight(&mut self, running: &[Running<'_>]) -> Result<Vec<Row>> {
        let cases = CLIENTS.map(|clients| [case(clients, false), case(clients, true)]).concat();
        let row = |name: String| Row::new(name, Kind::Time, running.len());
        let mut rows: Vec<_> = cases
            .iter()
            .map(|(clients, case)| match case.streamed {
                false => (None, row(format!("recorded run, {clients} in flight, whole"))),
                true => (
                    Some(row(format!("recorded run, {clients} in flight, stream: first text"))),
                    row(format!("recorded run, {clients} in flight, stream: end")),
                ),
            })
            .collect();
        let mut share = self.share(Group::InFlight);
        while share.next() {
            for number in self.shuffled(cases.len()) {
                let ((clients, case), (first, end)) = (cases[number], &mut rows[number]);
                for program in self.shuffled(running.len()) {
                    let (direct, through) = self.bursts(&running[program], clients, case)?;
                    let text = running[program].site.first_text(case.agent);
                    let (mut to_first, mut to_end) = (Round::default(), Round::default());
                    for (direct, through) in direct.iter().zip(&through) {
                        to_first.push(until(direct, text)?, until(through, 1)?);
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

    /// A burst of direct runs and one through the program, in either order.
    fn bursts(&mut self, running: &Running<'_>, clients: usize, case: Case) -> Result<(Vec<Answer>, Vec<Answer>)> {
        let runs = self.plan.burst;
        let directly = || {
            let members = (0..clients).map(|_| running.site.cli(case.agent)).collect();
            burst(members, runs, |cli| direct::run(cli, PROMPT))
        };
        let through = || {
            let members = (0..clients).map(|_| Client::connect(running.server.address)).collect::<Result<_>>()?;
            burst(members, runs, |client| client.ask(case.agent.model(), PROMPT, case.streamed))
        };
        if self.chance.bool() {
            let direct = directly()?;
            Ok((direct, through()?))
        } else {
            let through = through()?;
            Ok((directly()?, through))
        }
    }
}

/// All answers of a burst.
fn burst<M: Send>(members: Vec<M>, runs: usize, run: impl Fn(&mut M) -> Result<Answer> + Sync) -> Result<Vec<Answer>> {
    let answers = together(members, |mut member| (0..runs).map(|_| run(&mut member)).collect::<Result<Vec<_>>>())?;
    Ok(answers.concat())
}
