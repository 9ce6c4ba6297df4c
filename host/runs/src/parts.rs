//! The parts of an answer as two texts, content and reasoning, for surfaces without parts. Messages of the content are
//! separated by a blank line.

use agentbay_domain::{Part, Reply};

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
pub enum Joined {
    /// More content.
    Text {
        /// What separates it from the content before it.
        before: &'static str,
        /// Never empty.
        text: String,
    },
    /// More reasoning.
    Reasoning(String),
}

/// An answer, collected.
#[derive(Debug, Default)]
pub struct Answer {
    parts: Parts,
    /// Its content.
    pub content: String,
    /// The reasoning before it.
    pub reasoning: String,
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
            Reply::Added { text, .. } if self.in_reasoning => Some(Joined::Reasoning(text)),
            Reply::Added { text, .. } => {
                self.has_text = true;
                let before = if std::mem::take(&mut self.begins) { "\n\n" } else { "" };
                Some(Joined::Text { before, text })
            }
        }
    }

    fn open(&mut self, part: Part) {
        self.in_reasoning = part == Part::Reasoning;
        if let Part::Text { continues } = part {
            self.begins = self.has_text && !continues;
        }
    }

    /// Returns whether there is any content.
    pub fn have_text(&self) -> bool {
        self.has_text
    }
}

impl Answer {
    /// Adds the text of a reply.
    pub fn add(&mut self, reply: Reply) {
        match self.parts.joined(reply) {
            Some(Joined::Text { before, text }) => {
                self.content += before;
                append(&mut self.content, text);
            }
            Some(Joined::Reasoning(text)) => append(&mut self.reasoning, text),
            None => {}
        }
    }
}

/// A long first piece is not copied.
fn append(collected: &mut String, text: String) {
    if collected.is_empty() {
        *collected = text;
    } else {
        collected.push_str(&text);
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
        assert_eq!((answer.content.as_str(), answer.reasoning.as_str()), ("one, two\n\nthree", "hm"));
    }
}
