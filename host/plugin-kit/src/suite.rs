//! The tests of a recorded run: the events must not depend on how output is split, and truncated or corrupted output must
//! not cause a trap or a false success.

use std::sync::Arc;

use agentbay_domain::{ExitStatus, Framing, Outcome};
use agentbay_plugin_host::CallError;
use futures_util::StreamExt;

use super::chunking::{CHUNKINGS, Chunking};
use super::corrupt::{Corrupted, truncated, with_replaced_lines};
use super::difference::difference;
use super::dropped::dropped;
use super::error::KitError;
use super::fixture::{Fixture, Read};
use super::golden;
use super::parallel::{ReplayResult, replay_all};
use super::replay::{CallTimes, Player, Replay, replay};
use super::report::{Fault, FaultKind, FixtureReport, GoldenResult};
use super::sample::{MOST, sample};
use super::subject::Subject;

/// The pieces in which two interleaved runs are read.
const INTERLEAVED: Chunking = Chunking::Each(64);

/// Number of lines corrupted in the full length of a long run; further lines are corrupted in its sample.
const LINES_OF_FULL_RUN: usize = 4;

/// The tests of one recorded run.
pub(super) struct Suite<'a> {
    subject: &'a Arc<Subject>,
    fixture: &'a Fixture,
    faults: Vec<Fault>,
    times: CallTimes,
}

/// Runs all tests on a recorded run. `renew` writes the events to `golden.json`.
///
/// # Errors
/// `golden.json` cannot be read or written.
pub(super) async fn check_fixture(
    subject: &Arc<Subject>,
    fixture: &Fixture,
    beside: &Fixture,
    renew: bool,
) -> Result<FixtureReport, KitError> {
    let mut suite = Suite { subject, fixture, faults: Vec::new(), times: CallTimes::default() };
    let Some(whole) = suite.play("all at once", &Chunking::Whole.cut(&fixture.reads), fixture.exit).await else {
        return Ok(suite.report(None, GoldenResult::NotCompared));
    };
    for reason in dropped(&whole.events) {
        suite.fault(FaultKind::Dropped, reason, String::new());
    }
    suite.check_splits(&whole).await;
    match sample(fixture) {
        None => suite.check_corrupted(fixture, MOST, "", &whole).await,
        Some(short) => {
            suite.check_corrupted(&short, MOST, &format!("sampled to {} lines, ", short.reads.len()), &whole).await;
            suite.check_corrupted(fixture, LINES_OF_FULL_RUN, "", &whole).await;
        }
    }
    suite.check_interleaved(beside).await;
    let golden = suite.compare_golden(&whole, renew)?;
    Ok(suite.report(Some(&whole), golden))
}

impl Suite<'_> {
    /// The events are the same for every way of splitting the output.
    async fn check_splits(&mut self, whole: &Replay) {
        for chunking in CHUNKINGS {
            let how = chunking.name();
            let Some(replay) = self.play(&how, &chunking.cut(&self.fixture.reads), self.fixture.exit).await else {
                continue;
            };
            let (expected, actual) = (self.normalized(whole), self.normalized(&replay));
            if actual != expected {
                let detail = difference(&golden::to_text(&expected), &golden::to_text(&actual));
                self.fault(
                    FaultKind::Chunking,
                    format!("split {how}, the events differ from those of unsplit output"),
                    detail,
                );
            }
        }
    }

    /// Truncated or corrupted output ends without a trap and without a false success.
    async fn check_corrupted(&mut self, fixture: &Fixture, most: usize, first: &str, whole: &Replay) {
        let truncated = truncated(fixture, most).flat_map(|Corrupted { how, reads }| {
            let variant = Corrupted { how: format!("{first}truncated {how}"), reads };
            [ExitStatus::Code(0), ExitStatus::Code(1)].map(|exit| (variant.clone(), exit))
        });
        let replaced = with_replaced_lines(fixture, most).map(|Corrupted { how, reads }| {
            let variant = Corrupted { how: format!("{first}{how}"), reads };
            (variant, ExitStatus::Code(0))
        });
        let mut results = std::pin::pin!(replay_all(self.subject, &fixture.turn, truncated.chain(replaced)));
        while let Some(ReplayResult { how, is_silent, result }) = results.next().await {
            let actual = self.record(&how, result);
            // Output without any event may be plain text.
            let actual =
                actual.filter(|actual| if is_silent { !reports_no_output(actual) } else { !actual.events.is_empty() });
            self.judge(&how, whole, actual.as_ref());
        }
    }

    /// If the CLI reports the end of a turn, output without that report does not count as finished.
    fn judge(&mut self, how: &str, whole: &Replay, actual: Option<&Replay>) {
        let Some(actual) = actual else { return };
        let is_finished = matches!(actual.outcome, Outcome::Finished { .. });
        if whole.reports_finished() && is_finished && !actual.reports_finished() {
            let detail = "the whole run ends with `done`, this one without it; return a failure from `exit`".to_owned();
            self.fault(FaultKind::FalseFinish, format!("{how}, it counts as finished"), detail);
        }
    }

    /// The events do not depend on another run at the same time.
    async fn check_interleaved(&mut self, other: &Fixture) {
        let Some(alone) = self.play("in turns", &INTERLEAVED.cut(&self.fixture.reads), self.fixture.exit).await else {
            return;
        };
        match play_both(self.subject, self.fixture, other).await {
            Ok(actual) => {
                if actual != alone {
                    let detail = difference(&golden::to_text(&alone), &golden::to_text(&actual));
                    let what = format!("beside {}, the events differ from those of the run alone", other.name());
                    self.fault(FaultKind::Mixed, what, detail);
                }
            }
            Err(error) => self.trap(&format!("beside {}", other.name()), &error),
        }
    }

    /// The events equal those of `golden.json`.
    fn compare_golden(&mut self, whole: &Replay, renew: bool) -> Result<GoldenResult, KitError> {
        let folder = &self.fixture.folder;
        let (expected, actual) = (golden::expected(folder)?, golden::to_text(whole));
        if expected.as_ref() == Some(&actual) {
            return Ok(GoldenResult::Same);
        }
        let detail = difference(expected.as_deref().unwrap_or_default(), &actual);
        if renew {
            golden::write(folder, &actual)?;
            return Ok(GoldenResult::Renewed { difference: detail });
        }
        match expected {
            Some(_) => self.fault(FaultKind::Golden, "the events differ from golden.json".to_owned(), detail),
            None => {
                let detail = format!("compare the events with the recording, and keep them with --renew:\n{detail}");
                self.fault(FaultKind::NoGolden, "there is no golden.json".to_owned(), detail);
            }
        }
        Ok(GoldenResult::NotCompared)
    }

    async fn play(&mut self, how: &str, reads: &[Read], exit: ExitStatus) -> Option<Replay> {
        self.record(how, replay(self.subject, &self.fixture.turn, reads, exit).await)
    }

    /// Records the times of a replay, or its failure.
    fn record(&mut self, how: &str, result: Result<(Replay, CallTimes), CallError>) -> Option<Replay> {
        match result {
            Ok((replay, times)) => {
                self.times = self.times.max(times);
                Some(replay)
            }
            Err(error) => {
                self.trap(how, &error);
                None
            }
        }
    }

    /// With text framing, text may be split anywhere; a client sees no difference.
    fn normalized(&self, replay: &Replay) -> Replay {
        match self.subject.plugin.description().framing {
            Framing::Lines => replay.clone(),
            Framing::Text => replay.joined(),
        }
    }

    fn trap(&mut self, how: &str, error: &CallError) {
        self.fault(FaultKind::Trap, format!("{how}: {error}"), String::new());
    }

    /// Records a fault. Only the first of a kind is kept in full, since the others are mostly the same.
    fn fault(&mut self, kind: FaultKind, what: String, detail: String) {
        match self.faults.iter_mut().find(|fault| fault.kind == kind) {
            Some(first) => first.more += 1,
            None => self.faults.push(Fault { kind, what, detail, more: 0 }),
        }
    }

    fn report(self, whole: Option<&Replay>, golden: GoldenResult) -> FixtureReport {
        let events = whole.map_or(0, |whole| whole.events.len());
        let outcome = whole.map(|whole| whole.outcome.clone());
        let Self { fixture, faults, times, .. } = self;
        FixtureReport { name: fixture.name(), folder: fixture.folder.clone(), events, outcome, golden, faults, times }
    }
}

/// Replays two runs with interleaved pieces, each in its own instance, as two processes have.
async fn play_both(subject: &Subject, one: &Fixture, other: &Fixture) -> Result<Replay, CallError> {
    let mut first = Player::begin(subject, &one.turn).await?;
    let mut second = Player::begin(subject, &other.turn).await?;
    let (ours, theirs) = (INTERLEAVED.cut(&one.reads), INTERLEAVED.cut(&other.reads));
    for at in 0..ours.len().max(theirs.len()) {
        if let Some(piece) = ours.get(at) {
            first.push(piece).await?;
        }
        if let Some(piece) = theirs.get(at) {
            second.push(piece).await?;
        }
    }
    Ok(first.end(one.exit).await?.0)
}

/// Whether the outcome states that the CLI printed nothing.
fn reports_no_output(actual: &Replay) -> bool {
    matches!(&actual.outcome, Outcome::Finished { answer: Some(answer), .. } if answer == "No output from CLI.")
}
