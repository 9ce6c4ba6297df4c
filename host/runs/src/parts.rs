//! The parts of an answer as two texts, for those who do not keep them apart: content and reasoning. Messages of the
//! content are separated by a blank line.

use agentbay_domain::{Part, Reply};

/// Joins the parts of one attempt as they come.
#[derive(Debug, Default)]
pub struct Parts {
    in_reasoning: bool,
    has_text: bool,
    /// A message begins with the text that comes next.
    begins: bool,
}

/// What a reply adds to an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Joined<'a> {
    /// More content.
    Text {
        /// What separates it from the content before it.
        before: &'static str,
        /// Never empty.
        text: &'a str,
    },
    /// More reasoning.
    Reasoning(&'a str),
}

impl Parts {
    /// What a reply adds, if it adds anything.
    pub fn joined<'a>(&mut self, reply: &'a Reply) -> Option<Joined<'a>> {
        match reply {
            Reply::Opened { part, .. } => {
                self.open(*part);
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

    /// Whether there is any content.
    pub fn have_text(&self) -> bool {
        self.has_text
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
        let (mut joined, mut content, mut reasoning) = (Parts::default(), String::new(), String::new());
        for (at, (part, text)) in (0..).zip(parts) {
            let text = text.to_owned();
            for reply in [Reply::Opened { at, part }, Reply::Added { at, text }, Reply::Closed { at }] {
                match joined.joined(&reply) {
                    Some(Joined::Text { before, text }) => content += &format!("{before}{text}"),
                    Some(Joined::Reasoning(text)) => reasoning += text,
                    None => {}
                }
            }
        }
        assert_eq!((content.as_str(), reasoning.as_str()), ("one, two\n\nthree", "hm"));
    }
}
