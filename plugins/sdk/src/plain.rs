//! The plain-text rule: the answer of a CLI that prints text is its last block. Line feeds separate lines, blank lines separate
//! blocks. The last non-empty block counts, trimmed.

/// Maximum number of bytes of a block. The rest of a longer block is dropped.
pub const KEPT_BYTES: usize = 1024 * 1024;

/// The last block of a text; `None` if the text is blank.
pub fn last_block(text: &str) -> Option<String> {
    let mut block = LastBlock::with_limit(text.len());
    block.push(text);
    block.take()
}

/// The last block of a text stream, in memory bounded by the block and not by the text.
#[derive(Debug)]
pub struct LastBlock {
    /// The lines of the block so far.
    block: String,
    /// The incomplete line.
    line: String,
    /// A blank line followed the block: the next line that is not blank starts a new one.
    at_break: bool,
    limit: usize,
}

impl Default for LastBlock {
    fn default() -> Self {
        Self::with_limit(KEPT_BYTES)
    }
}

impl LastBlock {
    /// Keeps at most `limit` bytes of a block.
    pub fn with_limit(limit: usize) -> Self {
        Self { block: String::new(), line: String::new(), at_break: false, limit }
    }

    /// Adds text, split anywhere.
    pub fn push(&mut self, text: &str) {
        for (count, piece) in text.split('\n').enumerate() {
            if count > 0 {
                self.end_line();
            }
            push_bounded(&mut self.line, piece, self.limit);
        }
    }

    /// Adds whole lines, joined by line feeds.
    pub fn push_lines(&mut self, lines: &str) {
        self.push(lines);
        self.end_line();
    }

    /// Takes the last block and starts over; `None` if everything was blank.
    pub fn take(&mut self) -> Option<String> {
        self.end_line();
        self.at_break = false;
        let block = std::mem::take(&mut self.block);
        let answer = block.trim();
        (!answer.is_empty()).then(|| answer.to_owned())
    }

    /// The last block of the text so far; `None` if everything was blank.
    pub fn block(&self) -> Option<String> {
        let Self { block, line, at_break, limit } = self;
        Self { block: block.clone(), line: line.clone(), at_break: *at_break, limit: *limit }.take()
    }

    fn end_line(&mut self) {
        if self.line.trim().is_empty() {
            self.at_break = true;
        } else {
            if self.at_break {
                self.block.clear();
                self.at_break = false;
            }
            if !self.block.is_empty() {
                push_bounded(&mut self.block, "\n", self.limit);
            }
            push_bounded(&mut self.block, &self.line, self.limit);
        }
        self.line.clear();
    }
}

/// Appends up to the limit. The character that crosses it is still included, so that the result does not depend on how the text
/// was split.
pub(crate) fn push_bounded(kept: &mut String, more: &str, limit: usize) {
    let mut free = limit.saturating_sub(kept.len()).min(more.len());
    while !more.is_char_boundary(free) {
        free += 1;
    }
    kept.push_str(&more[..free]);
}
