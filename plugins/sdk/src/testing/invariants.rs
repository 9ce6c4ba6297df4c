//! Owns what must hold for every recorded run of every CLI, whatever it says.

use std::io;

use serde_json::Value;

use super::{Capture, GROUPINGS, Grouping, Replay, damaged, ended, replay};
use crate::{Agent, Event, ExitStatus, NO_OUTPUT, Outcome, StreamName, Transcript, Turn, finished};

/// Lines that are longer have nothing new in them.
const LONG_LINE: usize = 20_000;

/// Any grouping of the lines gives the same.
///
/// # Errors
/// With what differs.
pub fn check_groupings<A: Agent>(capture: &Capture, turn: &Turn) -> io::Result<()> {
    let whole = capture.replay::<A>(turn, Grouping::Whole);
    for grouping in GROUPINGS {
        let other = capture.replay::<A>(turn, grouping);
        check(other == whole, || format!("{}, {grouping:?}: {other:?} is not {whole:?}", capture.name()))?;
    }
    Ok(())
}

/// Cut off behind any line, a run is a success only if the CLI had said that it was done. A CLI that never says so passes
/// this only if it is judged by its exit.
///
/// # Errors
/// With the first line behind which it is not so.
pub fn check_truncated<A: Agent>(capture: &Capture, turn: &Turn) -> io::Result<()> {
    for count in 0..capture.line_count() {
        for exit in [ExitStatus::Code(0), ExitStatus::Code(1), capture.exit] {
            let told = capture.replay_lines::<A>(turn, count, Grouping::Whole, exit);
            let is_right =
                told.outcome.failure.is_some() || said_done(&told.events) || (count == 0 && is_silent(&told));
            check(is_right, || format!("{}: a success behind {count} lines, {exit:?}", capture.name()))?;
        }
    }
    Ok(())
}

/// With any line of standard output cut or replaced by something that is no event, a run that had events is a success only
/// if the CLI had said that it was done.
///
/// # Errors
/// With the output with which it is not so.
pub fn check_damaged<A: Agent>(capture: &Capture, turn: &Turn) -> io::Result<()> {
    for stdout in damaged(&capture.stdout) {
        let told = replay::<A>(turn, &stdout, Grouping::Whole, ExitStatus::Code(0));
        // Without a single event it is plain text.
        let is_right = told.events.is_empty() || told.outcome.failure.is_some() || said_done(&told.events);
        check(is_right, || format!("{}: a success of {stdout}", capture.name()))?;
    }
    Ok(())
}

/// Two runs whose lines come in turns give what each gives alone.
///
/// # Errors
/// With the names of the two.
pub fn check_interleaved<A: Agent>(one: &Capture, other: &Capture, turn: &Turn) -> io::Result<()> {
    let mut both = [one, other].map(|capture| {
        let pieces = capture.pieces(capture.line_count(), Grouping::Each(1));
        let mut transcript = A::Transcript::new(turn);
        transcript.begin(turn);
        (capture, transcript, pieces.into_iter(), Vec::new())
    });
    loop {
        let mut is_over = true;
        for (_, transcript, pieces, events) in &mut both {
            if let Some((source, piece)) = pieces.next() {
                events.extend(transcript.output(source, &piece));
                is_over = false;
            }
        }
        if is_over {
            break;
        }
    }
    for (capture, transcript, _, events) in both {
        let alone = capture.replay::<A>(turn, Grouping::Each(1));
        let told = ended(transcript, events, capture.exit);
        check(told == alone, || format!("{} and {}: {told:?} is not {alone:?}", one.name(), other.name()))?;
    }
    Ok(())
}

/// No event makes the plugin trap in which any one value is another than it should be. INV-CLI-PARSE-001.
pub fn check_mutated<A: Agent>(capture: &Capture, turn: &Turn) {
    let mut transcript = A::Transcript::new(turn);
    transcript.begin(turn);
    for line in capture.stdout.lines().filter(|line| line.len() < LONG_LINE) {
        for mutated in line.parse().map(|event: Value| mutations(&event)).unwrap_or_default() {
            let _ = transcript.output(StreamName::Stdout, &mutated.to_string());
        }
    }
    let _ = transcript.exit(capture.exit);
}

/// The value with each of its inner values in turn replaced by others.
fn mutations(value: &Value) -> Vec<Value> {
    let mut mutated = vec![Value::Null, Value::from(-7), Value::from("é"), Value::from_iter([Value::Null])];
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                mutated.extend(mutations(item).into_iter().map(|other| {
                    let replaced =
                        items.iter().enumerate().map(|(number, item)| if number == at { &other } else { item });
                    Value::Array(replaced.cloned().collect())
                }));
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                mutated.extend(mutations(field).into_iter().map(|other| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), other);
                    Value::Object(fields)
                }));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    mutated
}

/// Whether the run was answered as one in which nothing was printed.
pub(super) fn is_silent(told: &Replay) -> bool {
    told.events.is_empty() && told.outcome == finished(Some(NO_OUTPUT.into()))
}

fn said_done(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::Done(Outcome { failure: None, .. })))
}

fn check(is_right: bool, complaint: impl FnOnce() -> String) -> io::Result<()> {
    if is_right { Ok(()) } else { Err(io::Error::other(complaint())) }
}
