//! Owns the end of standard error, which a failed run is judged by when nothing else tells why it failed.

/// How many bytes are kept.
const TAIL_BYTES: usize = 8 * 1024;

/// The last of what a process wrote to its standard error, however it is cut into pieces.
#[derive(Debug, Default)]
pub struct StderrTail {
    kept: String,
}

impl StderrTail {
    /// Takes more of it.
    pub fn push(&mut self, text: &str) {
        // Of a long piece no more is copied than can be kept.
        self.kept.push_str(&text[begin(text)..]);
        // Twice the size, so that not every piece moves what is kept.
        if self.kept.len() > 2 * TAIL_BYTES {
            self.kept.drain(..begin(&self.kept));
        }
    }

    /// Takes whole lines, joined by line feeds, as the framing `lines` gives them.
    pub fn push_lines(&mut self, lines: &str) {
        self.push(lines);
        self.push("\n");
    }

    /// The end of it, without white space around it.
    pub fn text(&self) -> &str {
        self.kept[begin(&self.kept)..].trim()
    }
}

/// Where the end of a text begins that is kept.
fn begin(text: &str) -> usize {
    let mut begin = text.len().saturating_sub(TAIL_BYTES);
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    begin
}
