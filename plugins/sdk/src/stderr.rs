//! The tail of standard error, which explains a failed run when nothing else does.

/// Number of bytes kept.
const TAIL_BYTES: usize = 8 * 1024;

/// The last part of a process's standard error, independent of how it is split into pieces.
#[derive(Debug, Default)]
pub struct StderrTail {
    kept: String,
}

impl StderrTail {
    /// Adds text.
    pub fn push(&mut self, text: &str) {
        // Of a long piece only the part that can be kept is copied.
        self.kept.push_str(&text[begin(text)..]);
        // Twice the size, so that not every piece moves the kept text.
        if self.kept.len() > 2 * TAIL_BYTES {
            self.kept.drain(..begin(&self.kept));
        }
    }

    /// Adds whole lines, joined by line feeds, as the framing `lines` delivers them.
    pub fn push_lines(&mut self, lines: &str) {
        self.push(lines);
        self.push("\n");
    }

    /// The tail, trimmed.
    pub fn text(&self) -> &str {
        self.kept[begin(&self.kept)..].trim()
    }
}

/// Start of the part of a text that is kept.
fn begin(text: &str) -> usize {
    let mut begin = text.len().saturating_sub(TAIL_BYTES);
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    begin
}
