//! A long recorded run made short enough that each of its lines can be harmed: of every kind of line the first is kept,
//! the end, and some of the rest.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::damage::spread;
use super::fixture::{Fixture, Read};

/// The most lines that a short run has.
pub(super) const MOST: usize = 120;

/// The most that are kept as the first of their kind.
const KINDS: usize = MOST / 2;

/// How many are kept at the end, where a CLI says that its turn is over.
const LAST: usize = 10;

/// The keys in whose values CLIs say what kind of line it is.
const TELL_KINDS: [&str; 7] = ["event", "kind", "method", "role", "status", "subtype", "type"];

/// The run with some of its lines only; nothing if it is short as it is.
pub(super) fn shortened(fixture: &Fixture) -> Option<Fixture> {
    let lines = lines(&fixture.reads);
    if lines.len() <= MOST {
        return None;
    }
    let reads = kept(&lines).into_iter().map(|at| lines[at].clone()).collect();
    Some(Fixture { reads, ..fixture.clone() })
}

/// The lines of both streams, in the order in which they began.
fn lines(reads: &[Read]) -> Vec<Read> {
    let mut lines: Vec<Read> = Vec::new();
    for read in reads {
        for piece in read.bytes.split_inclusive(|byte| *byte == b'\n') {
            match lines.iter_mut().rfind(|line| line.source == read.source) {
                Some(begun) if !begun.bytes.ends_with(b"\n") => begun.bytes.extend_from_slice(piece),
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

/// What a line has in common with others of its kind: which values it has where, but not what they are.
fn kind(line: &[u8]) -> String {
    let mut kind = String::new();
    if let Ok(value) = serde_json::from_slice(line) {
        describe(&value, false, &mut kind);
    }
    kind
}

fn describe(value: &Value, tells: bool, kind: &mut String) {
    match value {
        Value::Null => kind.push('-'),
        Value::Bool(_) => kind.push('?'),
        Value::Number(_) => kind.push('#'),
        Value::String(text) if tells => kind.push_str(text),
        Value::String(_) => kind.push('_'),
        Value::Array(values) => {
            kind.push('[');
            values.iter().take(1).for_each(|value| describe(value, false, kind));
        }
        Value::Object(members) => {
            for (key, value) in members {
                kind.push('{');
                kind.push_str(key);
                describe(value, TELL_KINDS.contains(&key.as_str()), kind);
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
    fn a_short_run_stays_as_it_is() {
        assert_eq!(shortened(&fixture(vec![stdout(&"{}\n".repeat(MOST))])), None);
    }

    #[test]
    fn of_a_long_run_every_kind_of_line_and_the_end_are_kept_in_their_order() {
        let mut text = "{\"type\":\"text\",\"text\":\"a\"}\n".repeat(5000);
        let rare = ["{\"type\":\"tool\",\"input\":{\"x\":1}}", "{\"type\":\"tool\",\"input\":{\"y\":1}}", "no JSON"];
        text.insert_str(text.len() / 2, &(rare.join("\n") + "\n"));
        text += "{\"type\":\"done\"}\n";
        let short = shortened(&fixture(vec![stdout(&text)])).unwrap();
        let kept: Vec<&str> = short.reads.iter().map(|read| std::str::from_utf8(&read.bytes).unwrap().trim()).collect();
        assert!((MOST - LAST..=MOST).contains(&kept.len()), "{}", kept.len());
        let others: Vec<&str> = kept.iter().copied().filter(|line| !line.contains("text")).collect();
        assert_eq!(others, [&rare[..], &["{\"type\":\"done\"}"]].concat());
        assert_eq!(kept.last(), others.last());
    }

    #[test]
    fn a_line_that_came_in_pieces_with_the_other_stream_between_is_one() {
        let stderr = Read { source: StreamName::Stderr, bytes: b"e\nf".to_vec() };
        let lines = lines(&[stdout("a\nb"), stderr, stdout("c\nd")]);
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.bytes.as_slice()).collect();
        assert_eq!(lines, [&b"a\n"[..], b"bc\n", b"e\n", b"f", b"d"]);
    }
}
