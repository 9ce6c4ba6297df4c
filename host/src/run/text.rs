//! From the bytes of a process to clean text: UTF-8 across the borders of chunks, no byte order mark, no terminal
//! escapes, `\n` as the only line end; cut as the plugin wants it. Any split of the bytes gives the same text.
//!
//! Lines end at `\n` and nowhere else: U+2028 and U+0085 may stand raw inside the strings of JSON lines.

use super::plain::Plain;
use crate::domain::Framing;

/// Makes clean text out of one stream.
#[derive(Debug)]
pub struct Cleaner {
    framing: Framing,
    limit: usize,
    /// The bytes of a character that has not come whole.
    partial: Vec<u8>,
    /// Nothing has come yet, so a byte order mark may.
    at_start: bool,
    plain: Plain,
    /// A carriage return that may belong to a line end.
    return_held: bool,
    line: Line,
    cut_lines: u64,
}

/// The line that is being put together.
#[derive(Debug, Default)]
struct Line {
    text: String,
    /// It was longer than allowed, so that its rest is left out.
    cut: bool,
}

impl Cleaner {
    /// A cleaner for a stream from its start. `limit` holds for the bytes of a line, and only where lines are cut.
    pub fn new(framing: Framing, limit: u64) -> Self {
        Self {
            framing,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            partial: Vec::new(),
            at_start: true,
            plain: Plain::default(),
            return_held: false,
            line: Line::default(),
            cut_lines: 0,
        }
    }

    /// Takes bytes as they come, and gives back what can be handed over.
    pub fn push(&mut self, bytes: &[u8]) -> Option<String> {
        let decoded = self.decode(bytes);
        let mut out = String::new();
        self.clean(&decoded, &mut out);
        self.frame(&out)
    }

    /// The stream has ended: gives back what was held.
    pub fn finish(&mut self) -> Option<String> {
        let mut out = String::new();
        if !self.partial.is_empty() {
            self.partial.clear();
            self.clean("\u{FFFD}", &mut out);
        }
        if std::mem::take(&mut self.return_held) {
            out.push('\r');
        }
        let framed = self.frame(&out);
        let rest = (!self.line.text.is_empty()).then(|| self.end_line());
        match (framed, rest) {
            (Some(lines), Some(rest)) => Some(lines + "\n" + &rest),
            (framed, rest) => framed.or(rest),
        }
    }

    /// How many lines were longer than allowed.
    pub(super) fn cut_lines(&self) -> u64 {
        self.cut_lines
    }

    fn decode(&mut self, bytes: &[u8]) -> String {
        let mut pending = std::mem::take(&mut self.partial);
        pending.extend_from_slice(bytes);
        let mut rest = pending.as_slice();
        let mut decoded = String::with_capacity(rest.len());
        while !rest.is_empty() {
            let (valid, broken) = match std::str::from_utf8(rest) {
                Ok(valid) => (valid, None),
                Err(error) => {
                    let valid = std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default();
                    (valid, Some(error.error_len()))
                }
            };
            decoded.push_str(valid);
            rest = &rest[valid.len()..];
            match broken {
                None => {}
                Some(Some(length)) => {
                    decoded.push('\u{FFFD}');
                    rest = &rest[length..];
                }
                Some(None) => {
                    self.partial = rest.to_vec();
                    break;
                }
            }
        }
        decoded
    }

    fn clean(&mut self, text: &str, out: &mut String) {
        let mark = self.at_start && text.starts_with('\u{FEFF}');
        self.at_start &= text.is_empty();
        let text = if mark { &text['\u{FEFF}'.len_utf8()..] } else { text };
        for piece in text.split_inclusive('\n') {
            let (line, ended) = piece.strip_suffix('\n').map_or((piece, false), |line| (line, true));
            push_without_line_end(&mut self.return_held, &self.plain.strip(line), out);
            if ended {
                self.return_held = false;
                self.plain = Plain::default();
                out.push('\n');
            }
        }
    }

    fn frame(&mut self, text: &str) -> Option<String> {
        match self.framing {
            Framing::Text => (!text.is_empty()).then(|| text.to_owned()),
            Framing::Lines => {
                let mut lines = Vec::new();
                for piece in text.split_inclusive('\n') {
                    let (part, ended) = piece.strip_suffix('\n').map_or((piece, false), |part| (part, true));
                    self.line.append(part, self.limit);
                    if ended {
                        lines.push(self.end_line());
                    }
                }
                (!lines.is_empty()).then(|| lines.join("\n"))
            }
        }
    }

    fn end_line(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        self.cut_lines += u64::from(line.cut);
        line.text
    }
}

impl Line {
    fn append(&mut self, part: &str, limit: usize) {
        let room = limit.saturating_sub(self.text.len());
        if self.cut {
        } else if part.len() <= room {
            self.text.push_str(part);
        } else {
            self.text.push_str(&part[..part.floor_char_boundary(room)]);
            self.cut = true;
        }
    }
}

/// A carriage return at the end is held back: what follows decides whether it is a part of a line end.
fn push_without_line_end(held: &mut bool, text: &str, out: &mut String) {
    if text.is_empty() {
        return;
    }
    if std::mem::take(held) {
        out.push('\r');
    }
    match text.strip_suffix('\r') {
        Some(before) => {
            out.push_str(before);
            *held = true;
        }
        None => out.push_str(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: u64 = 40;

    /// Everything that comes out, as one text: lines get their line end back.
    fn cleaned(framing: Framing, chunks: &[&[u8]]) -> String {
        let mut cleaner = Cleaner::new(framing, LIMIT);
        let mut out: Vec<String> = chunks.iter().filter_map(|chunk| cleaner.push(chunk)).collect();
        out.extend(cleaner.finish());
        out.join(if framing == Framing::Lines { "\n" } else { "" })
    }

    fn text(bytes: &[u8]) -> String {
        cleaned(Framing::Text, &[bytes])
    }

    #[test]
    fn a_byte_order_mark_is_taken_away_at_the_start_only() {
        assert_eq!(text(b"\xEF\xBB\xBFa\xEF\xBB\xBFb"), "a\u{FEFF}b");
        assert_eq!(cleaned(Framing::Text, &[b"\xEF", b"\xBB", b"\xBFa"]), "a");
    }

    #[test]
    fn line_ends_become_line_feeds_and_a_lone_carriage_return_stays() {
        assert_eq!(text(b"a\r\nb\rc\r"), "a\nb\rc\r");
        assert_eq!(cleaned(Framing::Text, &[b"a\r", b"\nb"]), "a\nb");
        assert_eq!(cleaned(Framing::Text, &[b"a\r", b"b"]), "a\rb");
    }

    #[test]
    fn escapes_are_taken_away_wherever_they_are_cut() {
        let bytes = b"\x1b[1;32mgreen\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07\x1b[2K";
        assert_eq!(text(bytes), "green link");
        for at in 0..bytes.len() {
            assert_eq!(cleaned(Framing::Text, &[&bytes[..at], &bytes[at..]]), "green link", "cut at {at}");
        }
    }

    #[test]
    fn an_escape_that_never_ends_takes_its_line_and_no_more() {
        assert_eq!(text(b"a\x1b]0;title\nb"), "a\nb");
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        assert_eq!(text(b"a\xFFb\xE2\x82"), "a\u{FFFD}b\u{FFFD}");
    }

    #[test]
    fn lines_are_handed_over_whole_and_only_cut_at_line_feeds() {
        let mut cleaner = Cleaner::new(Framing::Lines, LIMIT);
        assert_eq!(cleaner.push(b"one\ntw"), Some("one".to_owned()));
        assert_eq!(cleaner.push("o\u{2028}\u{85}".as_bytes()), None);
        assert_eq!(cleaner.push(b"\r\n\nthree\nfour"), Some("two\u{2028}\u{85}\n\nthree".to_owned()));
        assert_eq!(cleaner.finish(), Some("four".to_owned()));
    }

    #[test]
    fn a_line_over_the_limit_is_cut_and_counted() {
        let mut cleaner = Cleaner::new(Framing::Lines, 5);
        assert_eq!(cleaner.push("123é56\n".as_bytes()), Some("123é".to_owned()));
        assert_eq!(cleaner.push(b"12345\n1234"), Some("12345".to_owned()));
        assert_eq!(cleaner.push("éé\nok\n".as_bytes()), Some("1234\nok".to_owned()));
        assert_eq!(cleaner.cut_lines(), 2);
    }

    /// Bytes made of what matters here: line ends, escapes, marks, whole and broken characters.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\x1b".to_vec()),
            Just(b"\x1b[31m".to_vec()),
            Just(b"\x1b]0;t\x07".to_vec()),
            Just(b"\xEF\xBB\xBF".to_vec()),
            Just("日é\u{9b}\u{2028}🚀".as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..4),
            "[ -~]{0,12}".prop_map(String::into_bytes),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_text(bytes in bytes(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
            for framing in [Framing::Text, Framing::Lines] {
                let whole = cleaned(framing, &[&bytes]);
                let single: Vec<&[u8]> = bytes.chunks(1).collect();
                prop_assert_eq!(&cleaned(framing, &single), &whole);

                let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
                at.extend([0, bytes.len()]);
                at.sort_unstable();
                let chunks: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
                prop_assert_eq!(&cleaned(framing, &chunks), &whole);
            }
        }

        #[test]
        fn no_escape_and_no_line_over_the_limit_survives(bytes in bytes()) {
            prop_assert!(!text(&bytes).contains('\x1b'));
            let lines = cleaned(Framing::Lines, &[&bytes]);
            prop_assert!(lines.split('\n').all(|line| line.len() as u64 <= LIMIT));
        }
    }
}
