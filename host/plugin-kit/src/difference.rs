//! A line-by-line difference of two texts, for people.

use std::fmt::Write;

use similar::{ChangeTag, TextDiff};

/// Number of unchanged lines shown around a change.
const AROUND: usize = 1;

/// Number of lines shown; the rest is counted.
const MOST_LINES: usize = 60;

/// Longer lines lose their middle: the start identifies a line and the end shows how it ends.
const LONGEST_LINE: usize = 400;

/// The differing lines: `-` marks an expected line, `+` an actual one.
pub(super) fn difference(expected: &str, actual: &str) -> String {
    let diff = TextDiff::from_lines(expected, actual);
    let mut lines: Vec<String> = Vec::new();
    for (at, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if at > 0 {
            lines.push("  …".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            lines.push(format!("{sign} {}", shortened(change.value().trim_end_matches('\n'))));
        }
    }
    let left_out = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    let mut text = lines.join("\n");
    if left_out > 0 {
        // Writing to a text cannot fail.
        let _written = write!(text, "\n  … and {left_out} more lines");
    }
    text
}

fn shortened(line: &str) -> String {
    if line.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let half = LONGEST_LINE / 2;
    let (head, tail) = (line.floor_char_boundary(half), line.ceil_char_boundary(line.len() - half));
    format!("{}…({} bytes)…{}", &line[..head], tail - head, &line[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_are_shown_with_one_line_around_them() {
        let expected = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let actual = "a\nb\nX\nd\ne\nf\ng\n";
        assert_eq!(difference(expected, actual), "  b\n- c\n+ X\n  d\n  …\n  g\n- h");
    }

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), "");
    }

    #[test]
    fn a_long_line_loses_its_middle_at_character_boundaries() {
        let line = "é".repeat(1000);
        let half = "é".repeat(100);
        assert_eq!(difference("", &format!("{line}\n")), format!("+ {half}…(1600 bytes)…{half}"));
    }

    #[test]
    fn lines_above_the_maximum_are_counted() {
        let actual: String = (0..100).map(|number| format!("{number}\n")).collect();
        assert!(difference("", &actual).ends_with("+ 59\n  … and 40 more lines"));
    }
}
