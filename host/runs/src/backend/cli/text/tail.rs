//! The last bytes of a stream.

use std::collections::VecDeque;

/// The last bytes of a stream, up to a limit.
#[derive(Debug)]
pub(in super::super) struct Tail {
    bytes: VecDeque<u8>,
    limit: usize,
}

impl Tail {
    pub(in super::super) fn new(limit: u64) -> Self {
        Self { bytes: VecDeque::new(), limit: usize::try_from(limit).unwrap_or(usize::MAX) }
    }

    pub(in super::super) fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let bytes = &bytes[bytes.len().saturating_sub(self.limit)..];
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.limit);
        self.bytes.drain(..over);
        self.bytes.extend(bytes);
    }

    /// The kept text, without a character that was cut.
    pub(in super::super) fn text(&self) -> String {
        let bytes = self.bytes.iter().copied().skip_while(|byte| byte & 0b1100_0000 == 0b1000_0000);
        String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).trim().to_owned()
    }

    /// The end of a text.
    pub(in super::super) fn of(text: &str, limit: u64) -> String {
        let mut tail = Self::new(limit);
        tail.push(text);
        tail.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept_and_no_half_character() {
        let mut tail = Tail::new(5);
        for piece in ["abc", "def", "gh"] {
            tail.push(piece);
        }
        assert_eq!(tail.text(), "defgh");

        let mut tail = Tail::new(4);
        tail.push("xyzéab\u{e9}");
        assert_eq!(tail.text(), "abé");
        let mut tail = Tail::new(4);
        tail.push("日本");
        assert_eq!(tail.text(), "本");
    }
}
