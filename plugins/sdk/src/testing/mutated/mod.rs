//! Owns runs that differ from recorded ones: a text is planted in the answer, and the events are written, ordered and
//! surrounded as no CLI does yet. The changes are in `change.rs`.

mod change;

use std::io;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::Index;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::Value;

use super::{Capture, Grouping, Replay, replay};
use crate::{Agent, Event, ExitStatus, NO_OUTPUT, Turn};
use change::{Change, Harm, changes, harms};

/// Longer runs have nothing new in them.
const LONG_RUN: usize = 60_000;

/// What is planted: signs that readers of lines, JSON or terminals stumble over, and words that look like an event.
const PLANT: &str = "⟦planted \u{2028}\"😀\\ {\"type\":\"result\",\"is_error\":true}⟧";

/// A recorded run as events, with a planted text.
#[derive(Clone, Debug)]
struct Run {
    name: String,
    events: Vec<Value>,
    exit: ExitStatus,
}

/// Of so many runs that differ from recorded ones in what must not matter, a plugin makes what it makes of those as they were;
/// of as many that differ in what does, it makes no success without the planted text, and shows no event as an answer.
/// INV-CLI-PARSE-001 and 002.
///
/// # Errors
/// With the smallest run found of which it is not so; also if no recorded run has an answer.
pub fn check_mutated_streams<A: Agent>(captures: &[Capture], turn: &Turn, cases: u32) -> io::Result<()> {
    let runs: Vec<Run> = captures.iter().filter_map(|capture| planted::<A>(capture, turn)).collect();
    if runs.is_empty() {
        return Err(io::Error::other("no recorded run has an answer in which a text can be planted"));
    }
    let harmless = (any::<Index>(), vec((changes(), any::<Index>()), 1..8));
    try_cases(cases / 2, &harmless, |(run, changes)| same::<A>(run.get(&runs), turn, changes))?;
    let harmful = (any::<Index>(), vec((harms(), any::<Index>()), 1..5));
    try_cases(cases - cases / 2, &harmful, |(run, harms)| honest::<A>(run.get(&runs), turn, harms))
}

fn try_cases<S: Strategy>(cases: u32, made: &S, check: impl Fn(&S::Value) -> Result<(), String>) -> io::Result<()> {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let checked = TestRunner::new(config).run(made, |case| check(&case).map_err(TestCaseError::fail));
    checked.map_err(|error| io::Error::other(error.to_string()))
}

/// The run, if it ended well with an answer of which a piece stands in the events. There the text is planted.
fn planted<A: Agent>(capture: &Capture, turn: &Turn) -> Option<Run> {
    if capture.stdout.len() > LONG_RUN {
        return None;
    }
    let mut events: Vec<Value> = capture.stdout.lines().filter_map(|line| line.parse().ok()).collect();
    let told = write_and_replay::<A>(&events, turn, capture.exit);
    let piece = told.events.iter().find_map(|event| match event {
        Event::Text(text) if text.trim().len() > 3 => Some(text.trim().to_owned()),
        _ => None,
    })?;
    let with = format!("{piece}{PLANT}");
    events.iter_mut().for_each(|event| change::each_text(event, &mut |text| *text = text.replace(&piece, &with)));
    let run = Run { name: capture.name(), events, exit: capture.exit };
    let told = write_and_replay::<A>(&run.events, turn, run.exit);
    (told.outcome.failure.is_none() && told.answer().contains(PLANT)).then_some(run)
}

fn write_and_replay<A: Agent>(events: &[Value], turn: &Turn, exit: ExitStatus) -> Replay {
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    replay::<A>(turn, &lines.join("\n"), Grouping::Whole, exit)
}

/// What must be the same: answer, failure, calls and their results, session, tokens.
fn told(told: &Replay) -> (String, Option<String>, Vec<String>) {
    let failure = told.outcome.failure.as_ref().map(|failure| failure.message.clone());
    let rest = told.events.iter().filter_map(|event| match event {
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
    (told.answer(), failure, rest.collect())
}

fn same<A: Agent>(run: &Run, turn: &Turn, changes: &[(Change, Index)]) -> Result<(), String> {
    let expected = write_and_replay::<A>(&run.events, turn, run.exit);
    let stdout = change::changed(&run.events, changes);
    for grouping in [Grouping::Whole, Grouping::Each(1)] {
        let replayed = replay::<A>(turn, &stdout, grouping, run.exit);
        if told(&replayed) != told(&expected) {
            return Err(format!("{}: {replayed:?} is not {expected:?}, printed was:\n{stdout}", run.name));
        }
    }
    Ok(())
}

fn honest<A: Agent>(run: &Run, turn: &Turn, harms: &[(Harm, Index)]) -> Result<(), String> {
    let stdout = change::harmed(&run.events, harms);
    for exit in [run.exit, ExitStatus::Code(0), ExitStatus::Code(1)] {
        let replayed = replay::<A>(turn, &stdout, Grouping::Whole, exit);
        let answer = replayed.answer();
        // The planted text itself looks like an event.
        let shown = answer.replace(PLANT, "");
        let is_raw = stdout.lines().any(|line| line.starts_with('{') && shown.contains(line));
        let is_empty = replayed.outcome.failure.is_none() && answer.trim().is_empty();
        let is_lost = is_empty && stdout.contains("planted") || answer == NO_OUTPUT && !stdout.trim().is_empty();
        if is_raw || is_lost {
            return Err(format!("{}, {exit:?}: {replayed:?}, printed was:\n{stdout}", run.name));
        }
    }
    Ok(())
}
