//! How two texts differ, line by line, for people.

use std::fmt::Write;

use similar::{ChangeTag, TextDiff};

/// Lines that are the same, shown around those that are not.
const AROUND: usize = 1;

/// More lines than this help nobody; the rest is counted.
const MOST_LINES: usize = 60;

/// A longer line is cut in the middle, for its beginning says what it is and its end how it ended.
const LONGEST_LINE: usize = 400;

/// The lines in which a text is not as expected: `-` was expected, `+` came instead.
pub(super) fn difference(expected: &str, told: &str) -> String {
    let diff = TextDiff::from_lines(expected, told);
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
        let _written = write!(text, "\n  … and {left_out} lines more");
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
        let told = "a\nb\nX\nd\ne\nf\ng\n";
        assert_eq!(difference(expected, told), "  b\n- c\n+ X\n  d\n  …\n  g\n- h");
    }

    #[test]
    fn what_is_the_same_has_no_difference() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), "");
    }

    #[test]
    fn a_long_line_is_cut_in_the_middle_at_the_borders_of_characters() {
        let line = "é".repeat(1000);
        let half = "é".repeat(100);
        assert_eq!(difference("", &format!("{line}\n")), format!("+ {half}…(1600 bytes)…{half}"));
    }

    #[test]
    fn of_many_lines_the_rest_is_counted() {
        let told: String = (0..100).map(|number| format!("{number}\n")).collect();
        assert!(difference("", &told).ends_with("+ 59\n  … and 40 lines more"));
    }
}
