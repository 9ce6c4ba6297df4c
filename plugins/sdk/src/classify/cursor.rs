//! Step-by-step reading of a text: numbers, words, and the characters between them.

/// The rest of a text. Copy it to read ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(rest: &'a str) -> Self {
        Self { rest }
    }

    /// Skips all of these characters.
    pub(super) fn skip(&mut self, letters: &str) {
        self.rest = self.rest.trim_start_matches(|letter| letters.contains(letter));
    }

    /// Skips this character; false if the next one differs.
    pub(super) fn eat(&mut self, letter: char) -> bool {
        self.rest.strip_prefix(letter).map(|rest| self.rest = rest).is_some()
    }

    /// Takes ASCII letters.
    pub(super) fn word(&mut self) -> &'a str {
        self.take(|letter| letter.is_ascii_alphabetic())
    }

    /// Takes the characters that fit.
    pub(super) fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|letter| !fits(letter)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Takes a decimal number as written.
    pub(super) fn number(&mut self) -> Option<String> {
        let mut number = self.take(|letter| letter.is_ascii_digit()).to_owned();
        if number.is_empty() {
            return None;
        }
        let mut behind = *self;
        if behind.eat('.') {
            let fraction = behind.take(|letter| letter.is_ascii_digit());
            if !fraction.is_empty() {
                number = format!("{number}.{fraction}");
                *self = behind;
            }
        }
        Some(number)
    }

    /// Takes an integer, if it is in this range.
    pub(super) fn whole(&mut self, range: std::ops::RangeInclusive<u16>) -> Option<u16> {
        let digits = self.take(|letter| letter.is_ascii_digit());
        digits.parse().ok().filter(|number| range.contains(number))
    }
}
