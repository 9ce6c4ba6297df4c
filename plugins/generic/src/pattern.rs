//! Patterns of whole lines, for `skip`, `begin`, `end` and `fail_if`. In a pattern `*` matches any text, and every other character
//! itself; `\*` is a star. White space at the end of a line is ignored.
//!
//! They are not regular expressions: for an incomplete line it must be known whether it can still match, so that text can be passed on
//! as it arrives.

use agentbay_plugin_sdk::{Failure, Value, invalid_option};

/// A pattern of whole lines.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The texts between the stars, in order. One piece: no star.
    pieces: Vec<String>,
}

impl Pattern {
    /// Reads the option `name`, which is a pattern or a list of them.
    pub(crate) fn list(name: &str, value: &str) -> Result<Vec<Self>, Failure> {
        let list = value.parse::<Value>().ok().and_then(|list| {
            list.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        let patterns: Vec<Self> = match list {
            Some(list) => list.iter().map(|pattern| Self::read(pattern)).collect(),
            None => vec![Self::read(value)],
        };
        if patterns.is_empty() || patterns.iter().any(Self::is_empty) {
            let message = format!(
                "option `{name}` is `{value}`: allowed is a pattern of a whole line such as `Tokens: *`, or a list of these; \
                 `*` stands for any text"
            );
            return Err(invalid_option(message));
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

    /// Empty, or only stars: every line would match.
    fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.trim().is_empty())
    }

    /// Whether the whole line matches. White space at its end is ignored.
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

    /// Whether a line that starts like this may still match.
    pub(crate) fn may_fit(&self, beginning: &str) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else { return false };
        first.starts_with(beginning)
            || first.starts_with(beginning.trim_end())
            || (!rest.is_empty() && beginning.starts_with(first.as_str()))
    }
}

/// Whether one of the patterns matches the whole line.
pub(crate) fn any_fits(patterns: &[Pattern], line: &str) -> bool {
    patterns.iter().any(|pattern| pattern.fits(line))
}

/// Finds the end of the first line that one of the patterns matches, in text that is split anywhere.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    patterns: Vec<Pattern>,
    line: String,
}

/// Maximum length of a line. A longer one matches no pattern.
pub(crate) const LINE_BYTES: usize = 64 * 1024;

impl Watch {
    pub(crate) fn new(patterns: Vec<Pattern>) -> Self {
        Self { patterns, line: String::new() }
    }

    /// Reads more text. Returns the end of the matching line, and the line.
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

    /// Ends the line, also at the end of the output. Returns it if it matches.
    pub(crate) fn end(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        (line.len() <= LINE_BYTES && any_fits(&self.patterns, &line)).then(|| line.trim().to_owned())
    }

    fn add(&mut self, piece: &str) {
        // One character more than allowed, however the text is split: then the line is known to be too long.
        if self.line.len() <= LINE_BYTES {
            self.line.push_str(piece);
        }
    }
}
