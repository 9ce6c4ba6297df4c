//! The properties of every recorded run of every CLI.

use std::io;

use serde_json::Value;

use super::{Capture, GROUPINGS, Grouping, Replay, corrupted, finish, replay};
use crate::{Agent, Event, ExitStatus, NO_OUTPUT, Outcome, StreamName, Transcript, Turn, finished};

/// Longer lines are skipped: they cover nothing new.
const LONG_LINE: usize = 20_000;

/// The result is the same for every grouping of the lines.
///
/// # Errors
/// With what differs.
pub fn check_groupings<A: Agent>(capture: &Capture, turn: &Turn) -> io::Result<()> {
    let whole = capture.replay::<A>(turn, Grouping::Whole);
    for grouping in GROUPINGS {
        let other = capture.replay::<A>(turn, grouping);
        check(other == whole, || format!("{}, {grouping:?}: {other:?} instead of {whole:?}", capture.name()))?;
    }
    Ok(())
}

/// A run that is truncated after any line is a success only if the CLI had reported its end. A CLI that never reports it passes only
/// if its exit status decides.
///
/// # Errors
/// With the first line after which this is violated.
pub fn check_truncated<A: Agent>(capture: &Capture, turn: &Turn) -> io::Result<()> {
    for count in 0..capture.line_count() {
        for exit in [ExitStatus::Code(0), ExitStatus::Code(1), capture.exit] {
            let replay = capture.replay_lines::<A>(turn, count, Grouping::Whole, exit);
            let is_right = replay.outcome.failure.is_some()
                || reported_success(&replay.events)
                || (count == 0 && is_without_output(&replay));
            check(is_right, || format!("{}: a success after {count} lines, {exit:?}", capture.name()))?;
        }
    }
    Ok(())
}

/// A run with events in which any line of standard output is truncated or replaced by something that is not an event is a success
/// only if the CLI had reported its end.
///
/// # Errors
/// With the output that violates this.
pub fn check_corrupted<A: Agent>(capture: &Capture, turn: &Turn) -> io::Result<()> {
    for stdout in corrupted(&capture.stdout) {
        let replay = replay::<A>(turn, &stdout, Grouping::Whole, ExitStatus::Code(0));
        // Without any event it is plain text.
        let is_right = replay.events.is_empty() || replay.outcome.failure.is_some() || reported_success(&replay.events);
        check(is_right, || format!("{}: a success of {stdout}", capture.name()))?;
    }
    Ok(())
}

/// Two interleaved runs give the same as each of them alone.
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
        let replay = finish(transcript, events, capture.exit);
        check(replay == alone, || format!("{} and {}: {replay:?} instead of {alone:?}", one.name(), other.name()))?;
    }
    Ok(())
}

/// No event in which any one value has another type makes the plugin panic. INV-CLI-PARSE-001.
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

/// The value with each of its inner values replaced in turn.
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

/// Whether the outcome is that of a run without output.
pub(super) fn is_without_output(replay: &Replay) -> bool {
    replay.events.is_empty() && replay.outcome == finished(Some(NO_OUTPUT.into()))
}

fn reported_success(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::Done(Outcome { failure: None, .. })))
}

fn check(is_right: bool, message: impl FnOnce() -> String) -> io::Result<()> {
    if is_right { Ok(()) } else { Err(io::Error::other(message())) }
}
