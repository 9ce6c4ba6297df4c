//! Owns where one message of the assistant ends and the next begins. A `text-break` is given only between two texts, and
//! only when the second one comes, so that none stands at the beginning or at the end of an answer.

use crate::Event;

/// The text of an answer, message by message.
#[derive(Debug, Default)]
pub struct Speech {
    spoke: bool,
    parted: bool,
}

impl Speech {
    /// What comes next belongs to a new message.
    pub fn part(&mut self) {
        self.parted = self.spoke;
    }

    /// Adds text to the message. Empty text is nothing.
    pub fn say(&mut self, text: &str, events: &mut Vec<Event>) {
        if text.is_empty() {
            return;
        }
        if self.parted {
            events.push(Event::TextBreak);
        }
        self.spoke = true;
        self.parted = false;
        events.push(Event::Text(text.into()));
    }

    /// Whether there was any text.
    pub fn spoke(&self) -> bool {
        self.spoke
    }
}
