//! The duration of a run, one after the other, and the delay of a delta.

use anyhow::{Context, Result};

use super::Measuring;
use super::running::{Case, Running};
use crate::answer::Answer;
use crate::group::Group;
use crate::plan::Share;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, PROMPT};

/// A kind of run, the figure of its first text, if that is one, and the figure of its end.
type Figures = (Case, Option<&'static str>, &'static str);

const fn whole(agent: Agent, end: &'static str) -> Figures {
    (Case { agent, streamed: false }, None, end)
}

const fn streamed(agent: Agent, first: &'static str, end: &'static str) -> Figures {
    (Case { agent, streamed: true }, Some(first), end)
}

const CASES: [Figures; 6] = [
    whole(Agent::Echo, "echo, whole"),
    streamed(Agent::Echo, "echo, stream: first text", "echo, stream: end"),
    whole(Agent::EchoDefault, "echo, whole, default `retries`"),
    whole(Agent::Replayed, "recorded run, whole"),
    streamed(Agent::Replayed, "recorded run, stream: first text", "recorded run, stream: end"),
    whole(Agent::ReplayedDefault, "recorded run, whole, default `retries`"),
];

/// A kind of run, and the name of its row.
const LONG_PROMPT: (Case, &str) =
    (Case { agent: Agent::Replayed, streamed: false }, "recorded run, whole, long prompt");

/// The default `retries` may need the state of the whole repository.
const REPOSITORIES: [Figures; 4] = [
    whole(Agent::EchoDefault, "echo, small repository"),
    whole(Agent::EchoLarge, "echo, large repository"),
    whole(Agent::ReplayedDefault, "recorded run, small repository"),
    whole(Agent::ReplayedLarge, "recorded run, large repository"),
];

const STAMPED: Case = Case { agent: Agent::Stamped, streamed: true };

impl Measuring<'_> {
    /// The duration of a run.
    pub(super) fn times(&mut self, running: &mut [Running<'_>]) -> Result<Vec<Row>> {
        let share = self.share(Group::Time);
        self.of_cases(running, &CASES, share)
    }

    /// The duration of a run in a small and in a large repository.
    pub(super) fn repositories(&mut self, running: &mut [Running<'_>]) -> Result<Vec<Row>> {
        let share = self.share(Group::Repository);
        self.of_cases(running, &REPOSITORIES, share)
    }

    fn of_cases(&mut self, running: &mut [Running<'_>], cases: &[Figures], mut share: Share) -> Result<Vec<Row>> {
        let row = |name: &str| Row::new(name, Kind::Time, running.len());
        let mut rows: Vec<_> = cases.iter().map(|(_, first, end)| (first.map(row), row(end))).collect();
        while share.next() {
            for number in self.shuffled(cases.len()) {
                let ((case, ..), (first, end)) = (cases[number], &mut rows[number]);
                for program in self.shuffled(running.len()) {
                    let (mut to_first, mut to_end) = (Round::default(), Round::default());
                    let text = running[program].site.first_text(case.agent);
                    for (direct, through) in self.block(&mut running[program], case, PROMPT)? {
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

    /// The duration of a run with a long prompt, which the CLI reads to its end.
    pub(super) fn long_prompts(&mut self, running: &mut [Running<'_>]) -> Result<Row> {
        let (case, name) = LONG_PROMPT;
        let mut row = Row::new(name, Kind::Time, running.len());
        let prompt = "a prompt of many words ".repeat(self.plan.prompt.div_ceil(23));
        let mut share = self.share(Group::Prompt);
        while share.next() {
            for program in self.shuffled(running.len()) {
                let mut round = Round::default();
                for (direct, through) in self.block(&mut running[program], case, &prompt)? {
                    round.push(direct.whole(), through.whole());
                }
                row.programs[program].push(round);
            }
        }
        Ok(row)
    }

    /// The time from the CLI's write of a line to its being read: from its pipe, and from the answer.
    pub(super) fn delays(&mut self, running: &mut [Running<'_>]) -> Result<Row> {
        let mut row = Row::new("delay of a delta", Kind::Delay, running.len());
        let mut share = self.share(Group::Delay);
        while share.next() {
            for program in self.shuffled(running.len()) {
                let mut round = Round::default();
                for (direct, through) in self.block(&mut running[program], STAMPED, PROMPT)? {
                    round.direct.extend(direct.delays());
                    round.through.extend(through.delays());
                }
                row.programs[program].push(round);
            }
        }
        Ok(row)
    }
}

/// Seconds until an answer has this number of bytes.
pub(super) fn until(answer: &Answer, bytes: usize) -> Result<f64> {
    answer.until(bytes).context("no text came")
}
