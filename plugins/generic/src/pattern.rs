//! Owns patterns of whole lines: what `skip`, `begin`, `end` and `fail_if` hold. In a pattern `*` stands for any text, and
//! every other character for itself; `\*` is a star. White space at the end of a line does not count.
//!
//! They are no regular expressions: of a line whose end has not come it must be known whether it can still become one that
//! fits, so that text goes on as it comes.

use agentbay_plugin_sdk::{Failure, Value, wrong_option};

/// A pattern of whole lines.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// What stands between the stars, in order. One piece: no star.
    pieces: Vec<String>,
}

impl Pattern {
    /// Reads the option `name`, which is a pattern or a list of them.
    pub(crate) fn list(name: &str, told: &str) -> Result<Vec<Self>, Failure> {
        let list = told.parse::<Value>().ok().and_then(|list| {
            list.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        let patterns: Vec<Self> = match list {
            Some(list) => list.iter().map(|pattern| Self::read(pattern)).collect(),
            None => vec![Self::read(told)],
        };
        if patterns.is_empty() || patterns.iter().any(Self::is_empty) {
            let message = format!(
                "option `{name}` is `{told}`: allowed is a pattern of a whole line such as `Tokens: *`, or a list of these; \
                 `*` stands for any text"
            );
            return Err(wrong_option(message));
        }
        Ok(patterns)
    }

    fn read(pattern: &str) -> Self {
        let mut pieces = vec![String::new()];
        let mut letters = pattern.trim_end().chars().peekable();
        while let Some(letter) = letters.next() {
            match (letter, letters.peek()) {
                ('\\', Some('*')) => {
                    letters.next();
                    pieces.last_mut().into_iter().for_each(|piece| piece.push('*'));
                }
                ('*', _) => pieces.push(String::new()),
                _ => pieces.last_mut().into_iter().for_each(|piece| piece.push(letter)),
            }
        }
        Self { pieces }
    }

    /// Nothing, or nothing but stars: every line would fit.
    fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.trim().is_empty())
    }

    /// Whether the whole line fits. White space at its end is not looked at.
    pub(crate) fn fits(&self, line: &str) -> bool {
        let line = line.trim_end();
        let Some((first, rest)) = self.pieces.split_first() else { return false };
        let Some((last, middle)) = rest.split_last() else { return line == first };
        let Some(mut left) = line.strip_prefix(first.as_str()).and_then(|left| left.strip_suffix(last.as_str())) else {
            return false;
        };
        for piece in middle {
            let Some(at) = left.find(piece.as_str()) else { return false };
            left = &left[at + piece.len()..];
        }
        true
    }

    /// Whether a line that begins like this may still come to fit.
    pub(crate) fn may_fit(&self, beginning: &str) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else { return false };
        first.starts_with(beginning)
            || first.starts_with(beginning.trim_end())
            || (!rest.is_empty() && beginning.starts_with(first.as_str()))
    }
}

/// Whether one of the patterns fits the whole line.
pub(crate) fn any_fits(patterns: &[Pattern], line: &str) -> bool {
    patterns.iter().any(|pattern| pattern.fits(line))
}

/// The part of a text up to the end of its first line that one of the patterns fits; cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    patterns: Vec<Pattern>,
    line: String,
}

/// How much of a line is looked at. A longer one fits no pattern.
pub(crate) const LINE_BYTES: usize = 64 * 1024;

impl Watch {
    pub(crate) fn new(patterns: Vec<Pattern>) -> Self {
        Self { patterns, line: String::new() }
    }

    /// Takes more of the text. Gives where the line ends that fits, and the line.
    pub(crate) fn push(&mut self, text: &str) -> Option<(usize, String)> {
        if self.patterns.is_empty() {
            return None;
        }
        let mut begin = 0;
        for (end, _) in text.match_indices('\n') {
            self.add(&text[begin..end]);
            begin = end + 1;
            if let Some(line) = self.end() {
                return Some((begin, line));
            }
        }
        self.add(&text[begin..]);
        None
    }

    /// The line ends, if only because nothing more comes. Gives it if it fits.
    pub(crate) fn end(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        (line.len() <= LINE_BYTES && any_fits(&self.patterns, &line)).then(|| line.trim().to_owned())
    }

    fn add(&mut self, piece: &str) {
        // One character more than fits, whatever the pieces are: then it is known to be too long.
        if self.line.len() <= LINE_BYTES {
            self.line.push_str(piece);
        }
    }
}
