//! Corrupted variants of recorded output: truncated at any point, or with one line replaced. The variants are produced lazily,
//! because each holds a copy of the whole recording.

use std::iter::once;

use agentbay_domain::StreamName;

use super::fixture::{Fixture, Read};

/// Lines that no CLI prints as an event.
const OTHER_LINES: [&[u8]; 8] =
    [b"", b"{}", b"null", b"[]", b"{\"type\":null}", b"{\"type\":{\"type\":[]}}", b"\xE2\x80\xA8", b"\xFF\xFE\x00{"];

/// Corrupted output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Corrupted {
    /// A description of the corruption, for people.
    pub(super) how: String,
    pub(super) reads: Vec<Read>,
}

/// The output truncated before its first line, after each line and in the middle of each line. At most `most` lines, spread
/// evenly over the output, are used.
pub(super) fn truncated(fixture: &Fixture, most: usize) -> impl Iterator<Item = Corrupted> {
    let reads = &fixture.reads;
    let ends: Vec<(usize, usize)> = reads.iter().enumerate().flat_map(|(at, read)| line_ends(at, read)).collect();
    let cuts = spread(ends.len(), most).flat_map(move |line| {
        let (at, end) = ends[line];
        let start = match line.checked_sub(1).map(|before| ends[before]) {
            Some((before, start)) if before == at => start,
            _ => 0,
        };
        let middle = start + (end - start) / 2;
        [(format!("after line {}", line + 1), at, end), (format!("inside line {}", line + 1), at, middle)]
    });
    let nothing = Corrupted { how: "before its first line".to_owned(), reads: Vec::new() };
    once(nothing).chain(cuts.map(|(how, at, end)| Corrupted { how, reads: until(reads, at, end) }))
}

/// Standard output with one line replaced by its first half or by something that is not an event, for at most `most` lines.
pub(super) fn with_replaced_lines(fixture: &Fixture, most: usize) -> impl Iterator<Item = Corrupted> {
    let (stdout, stderr) = (fixture.all_of(StreamName::Stdout), fixture.all_of(StreamName::Stderr));
    let ends: Vec<usize> = stdout.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::len).scan(0, add_up).collect();
    spread(ends.len(), most).flat_map(|line| (0..=OTHER_LINES.len()).map(move |other| (line, other))).map(
        move |(line, other)| {
            let start = line.checked_sub(1).map_or(0, |before| ends[before]);
            let (before, after) = (&stdout[..start], &stdout[ends[line]..]);
            let half = &stdout[start..start + (ends[line] - start) / 2];
            let other = OTHER_LINES.get(other).copied().unwrap_or(half);
            let how = format!("with line {} of standard output replaced by {:?}", line + 1, shown(other));
            let bytes = [before, other, b"\n", after].concat();
            let stdout = Read { source: StreamName::Stdout, bytes };
            let stderr = Read { source: StreamName::Stderr, bytes: stderr.clone() };
            Corrupted { how, reads: vec![stdout, stderr] }
        },
    )
}

/// Line ends in a piece of output.
fn line_ends(at: usize, read: &Read) -> Vec<(usize, usize)> {
    let ends = read.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(end, _)| (at, end + 1)).collect()
}

fn until(reads: &[Read], at: usize, end: usize) -> Vec<Read> {
    let mut left = reads[..=at].to_vec();
    if let Some(last) = left.last_mut() {
        last.bytes.truncate(end);
    }
    left
}

fn add_up(sum: &mut usize, more: usize) -> Option<usize> {
    *sum += more;
    Some(*sum)
}

/// At most `most` numbers below `count`, evenly spread.
pub(super) fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let most = most.min(count);
    (0..most).map(move |number| number * count / most)
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use agentbay_domain::ExitStatus;

    use super::*;
    use crate::fixture::usual_turn;

    fn fixture(pieces: &[(StreamName, &str)]) -> Fixture {
        let reads = pieces.iter().map(|&(source, text)| Read { source, bytes: text.into() }).collect();
        Fixture { folder: "f".into(), reads, exit: ExitStatus::Code(0), turn: usual_turn() }
    }

    fn stdout(text: &str) -> Read {
        Read { source: StreamName::Stdout, bytes: text.into() }
    }

    #[test]
    fn output_is_truncated_after_and_inside_every_line() {
        let fixture = fixture(&[(StreamName::Stdout, "ab\ncd\n"), (StreamName::Stderr, "e\n")]);
        let variants: Vec<Corrupted> = truncated(&fixture, 3).collect();
        let how: Vec<&str> = variants.iter().map(|variant| variant.how.as_str()).collect();
        let expected = [
            "before its first line",
            "after line 1",
            "inside line 1",
            "after line 2",
            "inside line 2",
            "after line 3",
            "inside line 3",
        ];
        assert_eq!(how, expected);
        assert_eq!(variants[1].reads, [stdout("ab\n")]);
        assert_eq!(variants[4].reads, [stdout("ab\nc")]);
        assert_eq!(
            variants[5].reads,
            [stdout("ab\ncd\n"), Read { source: StreamName::Stderr, bytes: b"e\n".to_vec() }]
        );
    }

    #[test]
    fn every_line_is_replaced_by_every_replacement() {
        let replaced: Vec<Corrupted> =
            with_replaced_lines(&fixture(&[(StreamName::Stdout, "abcd\nlast")]), 2).collect();
        assert_eq!(replaced.len(), 2 * (OTHER_LINES.len() + 1));
        assert_eq!(replaced[1].reads[0], stdout("{}\nlast"));
        assert_eq!(replaced[8].reads[0], stdout("ab\nlast"));
        assert_eq!(replaced[1].how, "with line 1 of standard output replaced by \"{}\"");
    }

    #[test]
    fn a_long_run_is_corrupted_at_a_bounded_number_of_evenly_spread_lines() {
        let lines: Vec<usize> = spread(100_000, 4).collect();
        assert_eq!(lines, [0, 25_000, 50_000, 75_000]);
        let long = fixture(&[(StreamName::Stdout, &"a\n".repeat(1000))]);
        assert_eq!(
            (truncated(&long, 4).count(), with_replaced_lines(&long, 4).count()),
            (1 + 4 * 2, 4 * (OTHER_LINES.len() + 1))
        );
    }
}
