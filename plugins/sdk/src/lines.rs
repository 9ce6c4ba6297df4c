//! Line splitting for plugins with `Framing::Text`. With `Framing::Lines` the host does it.

use crate::plain::push_bounded;

/// Maximum number of bytes of a line. The rest of a longer line is dropped.
const LINE_BYTES: usize = 4 * 1024 * 1024;

/// Splits a text stream into lines. Only line feeds end a line: other separators may occur in JSON.
#[derive(Debug, Default)]
pub struct LineSplitter {
    partial: String,
}

impl LineSplitter {
    /// Adds text and returns the lines that it completes.
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

    /// The incomplete line.
    pub fn partial(&self) -> &str {
        &self.partial
    }

    /// Takes the incomplete line at the end; `None` if it is empty.
    pub fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.partial);
        (!rest.is_empty()).then_some(rest)
    }
}
