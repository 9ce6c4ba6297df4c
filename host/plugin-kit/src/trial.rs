//! What a recorded run is put through, and what is found: however it is cut, cut off or harmed, a plugin answers for it.

use std::sync::Arc;

use agentbay_domain::{ExitStatus, Framing, Outcome};
use agentbay_plugin_host::CallError;
use futures_util::StreamExt;

use super::bench::{Played, play_all};
use super::chunking::{CHUNKINGS, Chunking};
use super::damage::{Harmed, cut_off, damaged};
use super::difference::difference;
use super::dropped::dropped;
use super::error::AuthorError;
use super::fixture::{Fixture, Read};
use super::golden;
use super::replay::{Player, Replay, Spent, replay};
use super::report::{Checked, Fault, FaultKind, Golden};
use super::shorten::{MOST, shortened};
use super::subject::Subject;

/// The pieces in which two runs that go on at the same time are heard in turns.
const IN_TURNS: Chunking = Chunking::Each(64);

/// So many lines of a long run are harmed in its whole length; the others where it is shortened.
const IN_WHOLE_LENGTH: usize = 4;

/// One recorded run on the bench.
pub(super) struct Trial<'a> {
    subject: &'a Arc<Subject>,
    fixture: &'a Fixture,
    faults: Vec<Fault>,
    spent: Spent,
}

/// Puts a recorded run through everything. With `renew`, what comes of it is what is expected from now on.
///
/// # Errors
/// What is expected cannot be read or written.
pub(super) async fn examine(
    subject: &Arc<Subject>,
    fixture: &Fixture,
    beside: &Fixture,
    renew: bool,
) -> Result<Checked, AuthorError> {
    let mut trial = Trial { subject, fixture, faults: Vec::new(), spent: Spent::default() };
    let Some(whole) = trial.play("all at once", &Chunking::Whole.cut(&fixture.reads), fixture.exit).await else {
        return Ok(trial.checked(None, Golden::NotCompared));
    };
    for reason in dropped(&whole.events) {
        trial.fault(FaultKind::Dropped, reason, String::new());
    }
    trial.cut_otherwise(&whole).await;
    match shortened(fixture) {
        None => trial.harm(fixture, MOST, "", &whole).await,
        Some(short) => {
            trial.harm(&short, MOST, &format!("shortened to {} lines, ", short.reads.len()), &whole).await;
            trial.harm(fixture, IN_WHOLE_LENGTH, "", &whole).await;
        }
    }
    trial.beside(beside).await;
    let golden = trial.compare(&whole, renew)?;
    Ok(trial.checked(Some(&whole), golden))
}

impl Trial<'_> {
    /// Any way of cutting the output gives the same.
    async fn cut_otherwise(&mut self, whole: &Replay) {
        for chunking in CHUNKINGS {
            let how = chunking.name();
            let Some(told) = self.play(&how, &chunking.cut(&self.fixture.reads), self.fixture.exit).await else {
                continue;
            };
            let (expected, told) = (self.comparable(whole), self.comparable(&told));
            if told != expected {
                let detail = difference(&golden::written(&expected), &golden::written(&told));
                self.fault(FaultKind::Chunking, format!("cut {how}, it gives other events than all at once"), detail);
            }
        }
    }

    /// Cut off anywhere, or with a line that is no event, it comes to an end without a trap.
    async fn harm(&mut self, fixture: &Fixture, most: usize, first: &str, whole: &Replay) {
        let cut_off = cut_off(fixture, most).flat_map(|Harmed { how, reads }| {
            let harmed = Harmed { how: format!("{first}cut off {how}"), reads };
            [ExitStatus::Code(0), ExitStatus::Code(1)].map(|exit| (harmed.clone(), exit))
        });
        let damaged = damaged(fixture, most).map(|Harmed { how, reads }| {
            let harmed = Harmed { how: format!("{first}{how}"), reads };
            (harmed, ExitStatus::Code(0))
        });
        let mut played = std::pin::pin!(play_all(self.subject, &fixture.turn, cut_off.chain(damaged)));
        while let Some(Played { how, is_silent, told }) = played.next().await {
            let told = self.heard(&how, told);
            // What was printed without a single event in it may be plain text.
            let told = told.filter(|told| if is_silent { !tells_silence(told) } else { !told.events.is_empty() });
            self.judge(&how, whole, told.as_ref());
        }
    }

    /// Where the CLI says that a turn is finished, one without these words is not.
    fn judge(&mut self, how: &str, whole: &Replay, told: Option<&Replay>) {
        let Some(told) = told else { return };
        let is_finished = matches!(told.outcome, Outcome::Finished { .. });
        if whole.says_finished() && is_finished && !told.says_finished() {
            let detail =
                "the whole run ends with `done`, this one without; let `exit` answer with a failure".to_owned();
            self.fault(FaultKind::FalseFinish, format!("{how}, it counts as finished"), detail);
        }
    }

    /// Another run that goes on at the same time makes no difference.
    async fn beside(&mut self, other: &Fixture) {
        let Some(alone) = self.play("in turns", &IN_TURNS.cut(&self.fixture.reads), self.fixture.exit).await else {
            return;
        };
        match play_both(self.subject, self.fixture, other).await {
            Ok(told) => {
                if told != alone {
                    let detail = difference(&golden::written(&alone), &golden::written(&told));
                    let what = format!("beside {}, it gives other events than alone", other.name());
                    self.fault(FaultKind::Mixed, what, detail);
                }
            }
            Err(error) => self.trap(&format!("beside {}", other.name()), &error),
        }
    }

    /// It gives what is expected of it.
    fn compare(&mut self, whole: &Replay, renew: bool) -> Result<Golden, AuthorError> {
        let folder = &self.fixture.folder;
        let (expected, told) = (golden::expected(folder)?, golden::written(whole));
        if expected.as_ref() == Some(&told) {
            return Ok(Golden::Same);
        }
        let detail = difference(expected.as_deref().unwrap_or_default(), &told);
        if renew {
            golden::write(folder, &told)?;
            return Ok(Golden::Renewed { difference: detail });
        }
        match expected {
            Some(_) => self.fault(FaultKind::Golden, "it is not what golden.json expects".to_owned(), detail),
            None => {
                let detail = format!("read it against the recording, and keep it with --renew:\n{detail}");
                self.fault(FaultKind::NoGolden, "there is no golden.json".to_owned(), detail);
            }
        }
        Ok(Golden::NotCompared)
    }

    async fn play(&mut self, how: &str, reads: &[Read], exit: ExitStatus) -> Option<Replay> {
        self.heard(how, replay(self.subject, &self.fixture.turn, reads, exit).await)
    }

    /// Notes how long a replay took, or why it failed.
    fn heard(&mut self, how: &str, told: Result<(Replay, Spent), CallError>) -> Option<Replay> {
        match told {
            Ok((told, spent)) => {
                self.spent = self.spent.or_longer(spent);
                Some(told)
            }
            Err(error) => {
                self.trap(how, &error);
                None
            }
        }
    }

    /// Text that is handed over as it comes may come apart anywhere; to a client it is the same.
    fn comparable(&self, replay: &Replay) -> Replay {
        match self.subject.plugin.description().framing {
            Framing::Lines => replay.clone(),
            Framing::Text => replay.joined(),
        }
    }

    fn trap(&mut self, how: &str, error: &CallError) {
        self.fault(FaultKind::Trap, format!("{how}: {error}"), String::new());
    }

    /// Of faults of one kind the first is told in full, for the others are mostly the same.
    fn fault(&mut self, kind: FaultKind, what: String, detail: String) {
        match self.faults.iter_mut().find(|fault| fault.kind == kind) {
            Some(first) => first.more += 1,
            None => self.faults.push(Fault { kind, what, detail, more: 0 }),
        }
    }

    fn checked(self, whole: Option<&Replay>, golden: Golden) -> Checked {
        let events = whole.map_or(0, |whole| whole.events.len());
        let outcome = whole.map(|whole| whole.outcome.clone());
        let Self { fixture, faults, spent, .. } = self;
        Checked { name: fixture.name(), folder: fixture.folder.clone(), events, outcome, golden, faults, spent }
    }
}

/// Two runs whose pieces come in turns, each in an instance of its own, as two processes have one.
async fn play_both(subject: &Subject, one: &Fixture, other: &Fixture) -> Result<Replay, CallError> {
    let mut first = Player::begin(subject, &one.turn).await?;
    let mut second = Player::begin(subject, &other.turn).await?;
    let (ours, theirs) = (IN_TURNS.cut(&one.reads), IN_TURNS.cut(&other.reads));
    for at in 0..ours.len().max(theirs.len()) {
        if let Some(piece) = ours.get(at) {
            first.hear(piece).await?;
        }
        if let Some(piece) = theirs.get(at) {
            second.hear(piece).await?;
        }
    }
    Ok(first.end(one.exit).await?.0)
}

/// Whether a run in which nothing was printed was answered as one.
fn tells_silence(told: &Replay) -> bool {
    matches!(&told.outcome, Outcome::Finished { answer: Some(answer), .. } if answer == "No output from CLI.")
}
