//! Mutated runs: a text is planted in the answer of a recorded run, and its events are written, ordered and surrounded as no CLI
//! does yet. `change.rs` has the mutations.

mod change;

use std::io;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::Index;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::Value;

use super::{Capture, Grouping, Replay, replay};
use crate::{Agent, Event, ExitStatus, NO_OUTPUT, Turn};
use change::{Change, Corruption, changes, corruptions};

/// Longer runs are skipped: they cover nothing new.
const LONG_RUN: usize = 60_000;

/// The planted text: characters that are difficult for readers of lines, JSON or terminals, and text that looks like an event.
const PLANT: &str = "⟦planted \u{2028}\"😀\\ {\"type\":\"result\",\"is_error\":true}⟧";

/// A recorded run as events, with a planted text.
#[derive(Clone, Debug)]
struct Run {
    name: String,
    events: Vec<Value>,
    exit: ExitStatus,
}

/// Checks a plugin on `cases` mutated runs. For half of them the mutation must not matter: the result equals that of the original.
/// For the other half it does: there is no success without the planted text, and no event is shown as an answer. INV-CLI-PARSE-001
/// and 002.
///
/// # Errors
/// With the smallest run found that violates this; also if no recorded run has an answer.
pub fn check_mutated_streams<A: Agent>(captures: &[Capture], turn: &Turn, cases: u32) -> io::Result<()> {
    let runs: Vec<Run> = captures.iter().filter_map(|capture| planted::<A>(capture, turn)).collect();
    if runs.is_empty() {
        return Err(io::Error::other("no recorded run has an answer in which a text can be planted"));
    }
    let harmless = (any::<Index>(), vec((changes(), any::<Index>()), 1..8));
    try_cases(cases / 2, &harmless, |(run, changes)| check_unchanged::<A>(run.get(&runs), turn, changes))?;
    let harmful = (any::<Index>(), vec((corruptions(), any::<Index>()), 1..5));
    try_cases(cases - cases / 2, &harmful, |(run, corruptions)| check_corrupted::<A>(run.get(&runs), turn, corruptions))
}

fn try_cases<S: Strategy>(cases: u32, made: &S, check: impl Fn(&S::Value) -> Result<(), String>) -> io::Result<()> {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let checked = TestRunner::new(config).run(made, |case| check(&case).map_err(TestCaseError::fail));
    checked.map_err(|error| io::Error::other(error.to_string()))
}

/// The run with the planted text, if it was a success and its events contain a piece of its answer.
fn planted<A: Agent>(capture: &Capture, turn: &Turn) -> Option<Run> {
    if capture.stdout.len() > LONG_RUN {
        return None;
    }
    let mut events: Vec<Value> = capture.stdout.lines().filter_map(|line| line.parse().ok()).collect();
    let replay = write_and_replay::<A>(&events, turn, capture.exit);
    let piece = replay.events.iter().find_map(|event| match event {
        Event::Text(text) if text.trim().len() > 3 => Some(text.trim().to_owned()),
        _ => None,
    })?;
    let with = format!("{piece}{PLANT}");
    events.iter_mut().for_each(|event| change::each_text(event, &mut |text| *text = text.replace(&piece, &with)));
    let run = Run { name: capture.name(), events, exit: capture.exit };
    let replay = write_and_replay::<A>(&run.events, turn, run.exit);
    (replay.outcome.failure.is_none() && replay.answer().contains(PLANT)).then_some(run)
}

fn write_and_replay<A: Agent>(events: &[Value], turn: &Turn, exit: ExitStatus) -> Replay {
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    replay::<A>(turn, &lines.join("\n"), Grouping::Whole, exit)
}

/// The part that must be equal: answer, failure, calls and their results, session, tokens.
fn essentials(replay: &Replay) -> (String, Option<String>, Vec<String>) {
    let failure = replay.outcome.failure.as_ref().map(|failure| failure.message.clone());
    let rest = replay.events.iter().filter_map(|event| match event {
        Event::ToolCall(call) => Some(format!("call {} {}", call.id, call.name)),
        Event::ToolResult(result) => Some(format!("result {} {} {}", result.id, result.output, result.is_error)),
        Event::Session(id) => Some(format!("session {id}")),
        Event::Usage(usage) => Some(format!("{usage:?}")),
        Event::Reasoning(text) => Some(format!("reasoning {text}")),
        Event::Text(_)
        | Event::TextBreak
        | Event::Notice(_)
        | Event::Reply(_)
        | Event::EndInput
        | Event::Done(_)
        | Event::Extra(_) => None,
    });
    (replay.answer(), failure, rest.collect())
}

fn check_unchanged<A: Agent>(run: &Run, turn: &Turn, changes: &[(Change, Index)]) -> Result<(), String> {
    let expected = write_and_replay::<A>(&run.events, turn, run.exit);
    let stdout = change::changed(&run.events, changes);
    for grouping in [Grouping::Whole, Grouping::Each(1)] {
        let replayed = replay::<A>(turn, &stdout, grouping, run.exit);
        if essentials(&replayed) != essentials(&expected) {
            return Err(format!("{}: {replayed:?} instead of {expected:?} for the output:\n{stdout}", run.name));
        }
    }
    Ok(())
}

fn check_corrupted<A: Agent>(run: &Run, turn: &Turn, corruptions: &[(Corruption, Index)]) -> Result<(), String> {
    let stdout = change::corrupted(&run.events, corruptions);
    for exit in [run.exit, ExitStatus::Code(0), ExitStatus::Code(1)] {
        let replayed = replay::<A>(turn, &stdout, Grouping::Whole, exit);
        let answer = replayed.answer();
        // The planted text itself looks like an event.
        let shown = answer.replace(PLANT, "");
        let is_raw = stdout.lines().any(|line| line.starts_with('{') && shown.contains(line));
        let is_empty = replayed.outcome.failure.is_none() && answer.trim().is_empty();
        let is_lost = is_empty && stdout.contains("planted") || answer == NO_OUTPUT && !stdout.trim().is_empty();
        if is_raw || is_lost {
            return Err(format!("{}, {exit:?}: {replayed:?} for the output:\n{stdout}", run.name));
        }
    }
    Ok(())
}
