//! Owns the cutting of lines for a plugin with `Framing::Text`. With `Framing::Lines` the host does it.

use crate::plain::push_bounded;

/// How many bytes of a line are kept. What a longer one has behind them is dropped.
const LINE_BYTES: usize = 4 * 1024 * 1024;

/// Whole lines out of text that comes in pieces. Lines end at line feeds only: other separators may stand in JSON.
#[derive(Debug, Default)]
pub struct LineCutter {
    partial: String,
}

impl LineCutter {
    /// Takes more of the text and gives the lines that it ends.
    pub fn push(&mut self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for (count, piece) in text.split('\n').enumerate() {
            if count > 0 {
                lines.push(std::mem::take(&mut self.partial));
            }
            push_bounded(&mut self.partial, piece, LINE_BYTES);
        }
        lines
    }

    /// The line whose end has not come yet.
    pub fn partial(&self) -> &str {
        &self.partial
    }

    /// The last line, which no line feed ended; none if it is empty.
    pub fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.partial);
        (!rest.is_empty()).then_some(rest)
    }
}
