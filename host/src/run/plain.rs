//! A line without what only a terminal understands: escape sequences and control characters.

use std::borrow::Cow;

use vte::{Parser, Perform};

const ESCAPE: char = '\u{1b}';

/// Strips one line, which may come in pieces. It is made anew for each line, so that an escape sequence which does not
/// end can take the rest of its line away, and no more.
#[derive(Default)]
pub(super) struct Plain {
    /// There from the first escape in the line on.
    parser: Option<Box<Parser>>,
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plain").field("escaped", &self.parser.is_some()).finish()
    }
}

impl Plain {
    /// What is left of a piece of the line.
    pub(super) fn strip<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        if self.parser.is_none() && !piece.contains(ESCAPE) {
            return if piece.chars().all(is_text) {
                Cow::Borrowed(piece)
            } else {
                Cow::Owned(piece.chars().filter(|c| is_text(*c)).collect())
            };
        }
        let mut text = Text(String::with_capacity(piece.len()));
        self.parser.get_or_insert_default().advance(&mut text, piece.as_bytes());
        Cow::Owned(text.0)
    }
}

/// Whether a character is more than an order to a terminal. U+0085 is a line end in some alphabets' texts.
fn is_text(c: char) -> bool {
    !c.is_control() || matches!(c, '\t' | '\r' | '\u{85}')
}

/// Keeps what a terminal would print.
struct Text(String);

impl Perform for Text {
    fn print(&mut self, c: char) {
        self.0.extend(Some(c).filter(|c| is_text(*c)));
    }

    fn execute(&mut self, byte: u8) {
        self.print(char::from(byte));
    }
}
