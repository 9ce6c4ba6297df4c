//! A sample of a long recorded run, small enough to corrupt each of its lines: the first line of every kind, the last lines,
//! and some of the rest.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::corrupt::spread;
use super::fixture::{Fixture, Read};

/// Maximum number of lines of a sample.
pub(super) const MOST: usize = 120;

/// Maximum number of lines kept as the first of their kind.
const KINDS: usize = MOST / 2;

/// Number of lines kept at the end, where a CLI reports the end of its turn.
const LAST: usize = 10;

/// Keys whose values show the kind of a line.
const KIND_KEYS: [&str; 7] = ["event", "kind", "method", "role", "status", "subtype", "type"];

/// A sample of the run's lines; `None` if the run is short enough.
pub(super) fn sample(fixture: &Fixture) -> Option<Fixture> {
    let lines = lines(&fixture.reads);
    if lines.len() <= MOST {
        return None;
    }
    let reads = kept(&lines).into_iter().map(|at| lines[at].clone()).collect();
    Some(Fixture { reads, ..fixture.clone() })
}

/// The lines of both streams, in the order of their first bytes.
fn lines(reads: &[Read]) -> Vec<Read> {
    let mut lines: Vec<Read> = Vec::new();
    for read in reads {
        for piece in read.bytes.split_inclusive(|byte| *byte == b'\n') {
            match lines.iter_mut().rfind(|line| line.source == read.source) {
                Some(open) if !open.bytes.ends_with(b"\n") => open.bytes.extend_from_slice(piece),
                _ => lines.push(Read { source: read.source, bytes: piece.to_vec() }),
            }
        }
    }
    lines
}

fn kept(lines: &[Read]) -> BTreeSet<usize> {
    let mut seen = HashSet::new();
    let firsts =
        (0..lines.len()).filter(|at| seen.insert((lines[*at].source == lines[0].source, kind(&lines[*at].bytes))));
    let mut kept: BTreeSet<usize> = firsts.take(KINDS).chain(lines.len() - LAST..lines.len()).collect();
    kept.extend(spread(lines.len(), MOST - kept.len()));
    kept
}

/// The kind of a line: its JSON structure without the values, except those of `KIND_KEYS`.
fn kind(line: &[u8]) -> String {
    let mut kind = String::new();
    if let Ok(value) = serde_json::from_slice(line) {
        describe(&value, false, &mut kind);
    }
    kind
}

fn describe(value: &Value, is_kind: bool, kind: &mut String) {
    match value {
        Value::Null => kind.push('-'),
        Value::Bool(_) => kind.push('?'),
        Value::Number(_) => kind.push('#'),
        Value::String(text) if is_kind => kind.push_str(text),
        Value::String(_) => kind.push('_'),
        Value::Array(values) => {
            kind.push('[');
            values.iter().take(1).for_each(|value| describe(value, false, kind));
        }
        Value::Object(members) => {
            for (key, value) in members {
                kind.push('{');
                kind.push_str(key);
                describe(value, KIND_KEYS.contains(&key.as_str()), kind);
            }
            kind.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{ExitStatus, StreamName};

    use super::*;
    use crate::fixture::usual_turn;

    fn fixture(reads: Vec<Read>) -> Fixture {
        Fixture { folder: "f".into(), reads, exit: ExitStatus::Code(0), turn: usual_turn() }
    }

    fn stdout(text: &str) -> Read {
        Read { source: StreamName::Stdout, bytes: text.into() }
    }

    #[test]
    fn a_short_run_is_not_sampled() {
        assert_eq!(sample(&fixture(vec![stdout(&"{}\n".repeat(MOST))])), None);
    }

    #[test]
    fn a_sample_keeps_every_kind_of_line_and_the_end_in_order() {
        let mut text = "{\"type\":\"text\",\"text\":\"a\"}\n".repeat(5000);
        let rare = ["{\"type\":\"tool\",\"input\":{\"x\":1}}", "{\"type\":\"tool\",\"input\":{\"y\":1}}", "no JSON"];
        text.insert_str(text.len() / 2, &(rare.join("\n") + "\n"));
        text += "{\"type\":\"done\"}\n";
        let short = sample(&fixture(vec![stdout(&text)])).unwrap();
        let kept: Vec<&str> = short.reads.iter().map(|read| std::str::from_utf8(&read.bytes).unwrap().trim()).collect();
        assert!((MOST - LAST..=MOST).contains(&kept.len()), "{}", kept.len());
        let others: Vec<&str> = kept.iter().copied().filter(|line| !line.contains("text")).collect();
        assert_eq!(others, [&rare[..], &["{\"type\":\"done\"}"]].concat());
        assert_eq!(kept.last(), others.last());
    }

    #[test]
    fn a_line_read_in_pieces_around_the_other_stream_is_one_line() {
        let stderr = Read { source: StreamName::Stderr, bytes: b"e\nf".to_vec() };
        let lines = lines(&[stdout("a\nb"), stderr, stdout("c\nd")]);
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.bytes.as_slice()).collect();
        assert_eq!(lines, [&b"a\n"[..], b"bc\n", b"e\n", b"f", b"d"]);
    }
}
