//! The parts of an answer as blocks: a block ends where the kind of the output changes. Messages of the text are separated by a
//! blank line, which is part of the text, since some surfaces and clients join its blocks.

use agentbay_domain::{Part, Reply};

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Text of the answer.
    Text,
    /// The reasoning before it.
    Reasoning,
}

/// Joins the parts of one attempt.
#[derive(Debug, Default)]
pub struct Parts {
    in_reasoning: bool,
    has_text: bool,
    /// The next text begins a message.
    begins: bool,
}

/// What a reply adds to an answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Joined {
    /// The kind of the output.
    pub kind: BlockKind,
    /// Never empty.
    pub text: String,
}

/// An answer, collected.
#[derive(Debug, Default)]
pub struct Answer {
    parts: Parts,
    blocks: Vec<Joined>,
    length: u64,
}

impl Parts {
    /// The text that a reply adds, if any.
    pub fn joined(&mut self, reply: Reply) -> Option<Joined> {
        match reply {
            Reply::Opened { part, .. } => {
                self.open(part);
                None
            }
            Reply::Closed { .. } => None,
            Reply::Added { text, .. } if self.in_reasoning => Some(Joined { kind: BlockKind::Reasoning, text }),
            Reply::Added { mut text, .. } => {
                self.has_text = true;
                if std::mem::take(&mut self.begins) {
                    text.insert_str(0, "\n\n");
                }
                Some(Joined { kind: BlockKind::Text, text })
            }
        }
    }

    fn open(&mut self, part: Part) {
        self.in_reasoning = part == Part::Reasoning;
        if let Part::Text { continues } = part {
            self.begins = self.has_text && !continues;
        }
    }

    /// Returns whether there is any text of the answer.
    pub fn have_text(&self) -> bool {
        self.has_text
    }
}

impl Answer {
    /// Adds the text of a reply.
    pub fn add(&mut self, reply: Reply) {
        if let Some(joined) = self.parts.joined(reply) {
            self.push(joined);
        }
    }

    /// Adds the answer of a CLI that reports it only at the end, if no text arrived before.
    pub fn add_final(&mut self, text: Option<String>) {
        if let Some(text) = text.filter(|text| !text.is_empty() && !self.parts.has_text) {
            self.push(Joined { kind: BlockKind::Text, text });
        }
    }

    fn push(&mut self, joined: Joined) {
        self.length += joined.text.len() as u64;
        match self.blocks.last_mut() {
            Some(last) if last.kind == joined.kind => last.text.push_str(&joined.text),
            // A long first piece is not copied.
            _ => self.blocks.push(joined),
        }
    }

    /// The bytes of all blocks.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The blocks, in order. No two neighbours are of one kind.
    pub fn into_blocks(self) -> Vec<Joined> {
        self.blocks
    }

    /// The text of all blocks of a kind.
    pub fn text_of(&self, kind: BlockKind) -> String {
        self.blocks.iter().filter(|block| block.kind == kind).map(|block| block.text.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_separated_and_reasoning_in_between_separates_nothing() {
        let parts = [
            (Part::Text { continues: false }, "one"),
            (Part::Reasoning, "hm"),
            (Part::Text { continues: true }, ", two"),
            (Part::Text { continues: false }, "three"),
        ];
        let mut answer = Answer::default();
        for (at, (part, text)) in (0..).zip(parts) {
            let text = text.to_owned();
            for reply in [Reply::Opened { at, part }, Reply::Added { at, text }, Reply::Closed { at }] {
                answer.add(reply);
            }
        }
        answer.add_final(Some("not used".to_owned()));
        assert_eq!(answer.text_of(BlockKind::Text), "one, two\n\nthree");
        assert_eq!(answer.length(), 17);
        let block = |kind, text: &str| Joined { kind, text: text.to_owned() };
        let blocks = [
            block(BlockKind::Text, "one"),
            block(BlockKind::Reasoning, "hm"),
            block(BlockKind::Text, ", two\n\nthree"),
        ];
        assert_eq!(answer.into_blocks(), blocks);
    }
}
