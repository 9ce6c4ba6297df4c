//! Owns the plain-text rule: the answer of a CLI that prints text is the last block of it. Lines are parted at line
//! feeds, blocks at blank lines; the last block that is not empty counts, without white space around it.

/// How many bytes of a block are kept. What a longer one has behind them is dropped.
pub const KEPT_BYTES: usize = 1024 * 1024;

/// The last block of a text; none if it is blank.
pub fn last_block(text: &str) -> Option<String> {
    let mut block = LastBlock::with_limit(text.len());
    block.push(text);
    block.take()
}

/// The last block of a text that comes in pieces, in memory bounded by the block and not by the text.
#[derive(Debug)]
pub struct LastBlock {
    /// The lines of the block so far.
    block: String,
    /// The line whose end has not come.
    line: String,
    /// A blank line came after the block: the next line that is not blank begins a new one.
    parted: bool,
    limit: usize,
}

impl Default for LastBlock {
    fn default() -> Self {
        Self::with_limit(KEPT_BYTES)
    }
}

impl LastBlock {
    /// Keeps so many bytes of a block at most.
    pub fn with_limit(limit: usize) -> Self {
        Self { block: String::new(), line: String::new(), parted: false, limit }
    }

    /// Takes more of the text, cut anywhere.
    pub fn push(&mut self, text: &str) {
        for (count, piece) in text.split('\n').enumerate() {
            if count > 0 {
                self.end_line();
            }
            push_bounded(&mut self.line, piece, self.limit);
        }
    }

    /// Takes whole lines, joined by line feeds.
    pub fn push_lines(&mut self, lines: &str) {
        self.push(lines);
        self.end_line();
    }

    /// The last block; none if all was blank. Begins anew.
    pub fn take(&mut self) -> Option<String> {
        self.end_line();
        self.parted = false;
        let block = std::mem::take(&mut self.block);
        let answer = block.trim();
        (!answer.is_empty()).then(|| answer.to_owned())
    }

    /// The last block of what came so far; none if all was blank.
    pub fn block(&self) -> Option<String> {
        let Self { block, line, parted, limit } = self;
        Self { block: block.clone(), line: line.clone(), parted: *parted, limit: *limit }.take()
    }

    fn end_line(&mut self) {
        if self.line.trim().is_empty() {
            self.parted = true;
        } else {
            if self.parted {
                self.block.clear();
                self.parted = false;
            }
            if !self.block.is_empty() {
                push_bounded(&mut self.block, "\n", self.limit);
            }
            push_bounded(&mut self.block, &self.line, self.limit);
        }
        self.line.clear();
    }
}

/// Appends until the limit is reached. The character that crosses it is still taken: so what is kept does not depend on
/// how the text was cut.
pub(crate) fn push_bounded(kept: &mut String, more: &str, limit: usize) {
    let mut room = limit.saturating_sub(kept.len()).min(more.len());
    while !more.is_char_boundary(room) {
        room += 1;
    }
    kept.push_str(&more[..room]);
}
