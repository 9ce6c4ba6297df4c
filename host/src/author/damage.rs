//! Ways in which output can be harmed: cut off anywhere, or with a line that should be another.

use super::fixture::{Fixture, Read};
use crate::domain::StreamName;

/// The most cuts and the most harmed lines of a recorded run, evenly spread over it: each is a run of its own.
const MOST: usize = 120;

/// Lines that no CLI prints in place of an event.
const OTHER_LINES: [&[u8]; 8] =
    [b"", b"{}", b"null", b"[]", b"{\"type\":null}", b"{\"type\":{\"type\":[]}}", b"\xE2\x80\xA8", b"\xFF\xFE\x00{"];

/// Output that was harmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Harmed {
    /// What was done to it, for people.
    pub(super) how: String,
    pub(super) reads: Vec<Read>,
}

/// The output cut off behind each line, and in the middle of each.
pub(super) fn cut_off(fixture: &Fixture) -> Vec<Harmed> {
    let reads = &fixture.reads;
    let ends: Vec<(usize, usize)> = reads.iter().enumerate().flat_map(|(at, read)| line_ends(at, read)).collect();
    let mut harmed = vec![Harmed { how: "before its first line".to_owned(), reads: Vec::new() }];
    for line in spread(ends.len()) {
        let (at, end) = ends[line];
        harmed.push(Harmed { how: format!("behind line {}", line + 1), reads: until(reads, at, end) });
        let start = match line.checked_sub(1).map(|before| ends[before]) {
            Some((before, start)) if before == at => start,
            _ => 0,
        };
        let middle = start + (end - start) / 2;
        harmed.push(Harmed { how: format!("inside line {}", line + 1), reads: until(reads, at, middle) });
    }
    harmed
}

/// Standard output with each line in turn cut in two or replaced by something that is no event.
pub(super) fn damaged(fixture: &Fixture) -> Vec<Harmed> {
    let (stdout, stderr) = (fixture.all_of(StreamName::Stdout), fixture.all_of(StreamName::Stderr));
    let lines: Vec<&[u8]> = stdout.split_inclusive(|byte| *byte == b'\n').collect();
    let mut harmed = Vec::new();
    for at in spread(lines.len()) {
        let half = &lines[at][..lines[at].len() / 2];
        for other in OTHER_LINES.into_iter().chain([half]) {
            let (before, after) = (lines[..at].concat(), lines[at + 1..].concat());
            let bytes = [before.as_slice(), other, b"\n", &after].concat();
            let how = format!("with line {} of standard output replaced by {:?}", at + 1, shown(other));
            let stdout = Read { source: StreamName::Stdout, bytes };
            let stderr = Read { source: StreamName::Stderr, bytes: stderr.clone() };
            harmed.push(Harmed { how, reads: vec![stdout, stderr] });
        }
    }
    harmed
}

/// Where lines end in a piece of output.
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

/// The numbers below a count, or so many of them as are allowed.
fn spread(count: usize) -> Vec<usize> {
    if count <= MOST { (0..count).collect() } else { (0..MOST).map(|number| number * count / MOST).collect() }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::author::fixture::usual_turn;
    use crate::domain::ExitStatus;

    fn fixture(pieces: &[(StreamName, &str)]) -> Fixture {
        let reads = pieces.iter().map(|&(source, text)| Read { source, bytes: text.into() }).collect();
        Fixture { folder: "f".into(), reads, exit: ExitStatus::Code(0), turn: usual_turn() }
    }

    fn stdout(text: &str) -> Read {
        Read { source: StreamName::Stdout, bytes: text.into() }
    }

    #[test]
    fn output_is_cut_off_behind_and_inside_every_line() {
        let cut = cut_off(&fixture(&[(StreamName::Stdout, "ab\ncd\n"), (StreamName::Stderr, "e\n")]));
        let how: Vec<&str> = cut.iter().map(|harmed| harmed.how.as_str()).collect();
        let expected = [
            "before its first line",
            "behind line 1",
            "inside line 1",
            "behind line 2",
            "inside line 2",
            "behind line 3",
            "inside line 3",
        ];
        assert_eq!(how, expected);
        assert_eq!(cut[1].reads, [stdout("ab\n")]);
        assert_eq!(cut[4].reads, [stdout("ab\nc")]);
        assert_eq!(cut[5].reads, [stdout("ab\ncd\n"), Read { source: StreamName::Stderr, bytes: b"e\n".to_vec() }]);
    }

    #[test]
    fn every_line_is_replaced_in_every_way() {
        let damaged = damaged(&fixture(&[(StreamName::Stdout, "abcd\nlast")]));
        assert_eq!(damaged.len(), 2 * (OTHER_LINES.len() + 1));
        assert_eq!(damaged[1].reads[0], stdout("{}\nlast"));
        assert_eq!(damaged[8].reads[0], stdout("ab\nlast"));
        assert_eq!(damaged[1].how, "with line 1 of standard output replaced by \"{}\"");
    }

    #[test]
    fn a_long_run_is_harmed_at_a_bounded_number_of_lines_over_its_whole_length() {
        let lines = spread(100_000);
        assert_eq!((lines.len(), lines[0]), (MOST, 0));
        assert!(lines[MOST - 1] > 99_000);
    }
}
