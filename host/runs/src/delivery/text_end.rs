//! Where the text of an answer ends: before the first of the client's stop sequences, or at the client's maximum length.

use agentbay_domain::{Ask, StopReason, Usage};

/// Finds the end of a text that arrives in pieces. The result does not depend on how the text is cut.
#[derive(Debug)]
pub(super) struct TextEnd {
    sequences: Vec<Sequence>,
    /// The end of the text so far, which may be the beginning of a stop sequence.
    held: String,
    /// Characters that may still be sent; `None` without a maximum.
    left: Option<usize>,
    reached: Option<StopReason>,
}

/// A stop sequence, and how many of its bytes the text ends with (the algorithm of Knuth, Morris and Pratt).
#[derive(Debug)]
struct Sequence {
    text: String,
    /// For each length of a beginning: the length of the longest shorter beginning that it ends with.
    shorter: Vec<usize>,
    matched: usize,
}

impl TextEnd {
    pub(super) fn new(ask: &Ask) -> Self {
        Self {
            sequences: ask.stop.iter().map(|text| Sequence::new(text)).collect(),
            held: String::new(),
            left: ask.max_output.map(Usage::estimated_chars),
            reached: None,
        }
    }

    /// Adds a piece, and returns the text that is certain to precede the end.
    pub(super) fn push(&mut self, piece: &str) -> String {
        if self.reached.is_some() {
            return String::new();
        }
        let before = self.held.len();
        let mut text = std::mem::take(&mut self.held) + piece;
        let found = piece.bytes().enumerate().find_map(|(at, byte)| Some((at, self.matched(byte)?)));
        let stop = found.map(|(at, sequence)| {
            text.truncate((before + at + 1).saturating_sub(sequence.len()));
            StopReason::StopSequence(sequence)
        });
        if stop.is_none() {
            let held = self.sequences.iter().map(|sequence| sequence.matched).max().unwrap_or_default();
            self.held = text.split_off(text.len().saturating_sub(held));
        }
        self.within_maximum(text, stop)
    }

    /// Returns the text that was held back.
    pub(super) fn finish(&mut self) -> String {
        if self.reached.is_some() {
            return String::new();
        }
        let held = std::mem::take(&mut self.held);
        self.within_maximum(held, None)
    }

    /// Why the text has ended.
    pub(super) fn reached(&self) -> Option<&StopReason> {
        self.reached.as_ref()
    }

    /// The longest sequence that is complete with this byte.
    fn matched(&mut self, byte: u8) -> Option<String> {
        let complete = self.sequences.iter_mut().filter_map(|sequence| sequence.step(byte).then_some(&*sequence.text));
        complete.max_by_key(|text| text.len()).map(str::to_owned)
    }

    fn within_maximum(&mut self, mut text: String, stop: Option<StopReason>) -> String {
        self.reached = stop;
        if let Some(left) = &mut self.left {
            match text.char_indices().nth(*left) {
                Some((end, _)) => {
                    text.truncate(end);
                    self.held.clear();
                    self.reached = Some(StopReason::MaxTokens);
                }
                None => *left -= text.chars().count(),
            }
        }
        text
    }
}

impl Sequence {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut shorter = vec![0; bytes.len()];
        let mut length = 0;
        for at in 1..bytes.len() {
            while length > 0 && bytes[at] != bytes[length] {
                length = shorter[length - 1];
            }
            length += usize::from(bytes[at] == bytes[length]);
            shorter[at] = length;
        }
        Self { text: text.to_owned(), shorter, matched: 0 }
    }

    /// Adds a byte of the text. Returns whether the sequence is complete.
    fn step(&mut self, byte: u8) -> bool {
        let bytes = self.text.as_bytes();
        while self.matched > 0 && bytes[self.matched] != byte {
            self.matched = self.shorter[self.matched - 1];
        }
        self.matched += usize::from(bytes[self.matched] == byte);
        self.matched == bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask(stop: &[&str], max_output: Option<u64>) -> Ask {
        Ask { stop: stop.iter().map(|&text| text.to_owned()).collect(), max_output, ..Ask::default() }
    }

    /// The text up to its end, and why it ended.
    fn ended<'a>(ask: &Ask, pieces: impl IntoIterator<Item = &'a str>) -> (String, Option<StopReason>) {
        let mut end = TextEnd::new(ask);
        let mut text: String = pieces.into_iter().map(|piece| end.push(piece)).collect();
        text += &end.finish();
        (text, end.reached().cloned())
    }

    fn at(text: &str, reached: Option<StopReason>) -> (String, Option<StopReason>) {
        (text.to_owned(), reached)
    }

    fn stopped(sequence: &str) -> Option<StopReason> {
        Some(StopReason::StopSequence(sequence.to_owned()))
    }

    #[test]
    fn text_ends_before_the_stop_sequence_that_is_complete_first() {
        for (stop, text, expected) in [
            (&["END"][..], "one END two", at("one ", stopped("END"))),
            (&["x", "END"], "one END x", at("one ", stopped("END"))),
            (&["bcd", "c"], "abcd", at("ab", stopped("c"))),
            (&["c", "bc"], "abcd", at("a", stopped("bc"))),
            (&["aab"], "aaab", at("a", stopped("aab"))),
            (&["é!"], "né!", at("n", stopped("é!"))),
            (&["END"], "one EN", at("one EN", None)),
            (&["\n\n"], "\n\n", at("", stopped("\n\n"))),
        ] {
            assert_eq!(ended(&ask(stop, None), [text]), expected, "{text}");
        }
    }

    #[test]
    fn text_ends_at_the_maximum_or_before_a_stop_sequence_whichever_is_first() {
        for (max, text, expected) in [
            (1, "é234", at("é234", None)),
            (1, "é2345", at("é234", Some(StopReason::MaxTokens))),
            (1, "12END", at("12", stopped("END"))),
            (1, "12345END", at("1234", Some(StopReason::MaxTokens))),
            (0, "1", at("", Some(StopReason::MaxTokens))),
            (u64::MAX, "1", at("1", None)),
        ] {
            assert_eq!(ended(&ask(&["END"], Some(max)), [text]), expected, "{max} {text}");
        }
    }

    #[test]
    fn text_that_may_be_a_stop_sequence_is_held_back_and_the_rest_is_not() {
        let mut end = TextEnd::new(&ask(&["END"], None));
        assert_eq!([end.push("one E"), end.push("N"), end.push("Q"), end.push("E")], ["one ", "", "ENQ", ""]);
        assert_eq!([end.push("ND two"), end.push("three"), end.finish()], ["", "", ""]);
    }

    proptest! {
        #[test]
        fn the_end_does_not_depend_on_how_the_text_is_cut(
            pieces in prop::collection::vec("[abé]{0,4}", 0..8),
            stop in prop::collection::vec("[abé]{1,3}", 0..3),
            max in prop::option::of(0u64..5),
        ) {
            let stop: Vec<&str> = stop.iter().map(String::as_str).collect();
            let ask = ask(&stop, max);
            let whole = pieces.concat();
            prop_assert_eq!(ended(&ask, pieces.iter().map(String::as_str)), ended(&ask, [whole.as_str()]));
        }
    }
}
