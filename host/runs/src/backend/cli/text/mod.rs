//! From the bytes of a process to clean text: UTF-8 across the borders of chunks, no byte order mark, the text that a
//! terminal would show, `\n` as the only line end; cut as the plugin wants it. Any split of the bytes gives the same text.
//!
//! Lines end at `\n` and nowhere else: U+2028 and U+0085 may stand raw inside the strings of JSON lines.

mod line;
mod tail;
mod terminal;

use agentbay_domain::Framing;

pub(super) use tail::Tail;
use terminal::Terminal;

/// Makes clean text out of one stream.
#[derive(Debug)]
pub struct Cleaner {
    framing: Framing,
    /// The bytes of a character that is not complete.
    partial: Vec<u8>,
    /// Nothing has arrived yet, so a byte order mark may.
    at_start: bool,
    terminal: Terminal,
}

impl Cleaner {
    /// A cleaner for a stream from its start. `limit` is the bytes of a line, for [`Framing::Lines`].
    pub fn new(framing: Framing, limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { framing, partial: Vec::new(), at_start: true, terminal: Terminal::new(framing, limit) }
    }

    /// Takes bytes and returns the text that is complete.
    pub fn push(&mut self, bytes: &[u8]) -> Option<String> {
        let decoded = self.decode(bytes);
        self.print(&decoded);
        self.framed()
    }

    /// Returns whether [`Cleaner::flush`] would return something.
    pub(super) fn holds(&self) -> bool {
        self.terminal.holds()
    }

    /// Returns what is held back after a short silence, unless it is being redrawn.
    pub(super) fn flush(&mut self) -> Option<String> {
        self.terminal.flush();
        self.framed()
    }

    /// Returns what is held back when the stream has ended.
    pub fn finish(&mut self) -> Option<String> {
        if !self.partial.is_empty() {
            self.partial.clear();
            self.print("\u{FFFD}");
        }
        self.terminal.finish();
        self.framed()
    }

    /// The number of lines over the limit.
    pub(super) fn cut_lines(&self) -> u64 {
        self.terminal.cut_lines()
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

    fn print(&mut self, text: &str) {
        let mark = self.at_start && text.starts_with('\u{FEFF}');
        self.at_start &= text.is_empty();
        self.terminal.print(if mark { &text['\u{FEFF}'.len_utf8()..] } else { text });
    }

    /// The text to pass on. Whole lines lose their last line end.
    fn framed(&mut self) -> Option<String> {
        let mut out = self.terminal.take();
        if out.is_empty() {
            return None;
        }
        if self.framing == Framing::Lines && out.ends_with('\n') {
            out.pop();
        }
        Some(out)
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
    fn line_ends_become_line_feeds_and_what_comes_after_a_lone_carriage_return_is_printed_over_the_line() {
        assert_eq!(text(b"a  \r\nbc\rd\r"), "a  \ndc");
        assert_eq!(cleaned(Framing::Text, &[b"a\r", b"\nb"]), "a\nb");
        assert_eq!(cleaned(Framing::Text, &[b"a\r", b"b"]), "b");
    }

    #[test]
    fn escapes_are_taken_away_wherever_they_are_cut() {
        let bytes = b"\x1b[1;32mgreen\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07\x1b[K";
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
