//! Owns where one message of the assistant ends and the next begins, and that a message which is told anew is given once. A
//! `text-break` is given only between two texts, and only when the second one comes, so that none stands at the beginning or
//! at the end of an answer.

use crate::Event;

/// How many bytes of a message are kept, to know them when it is told anew.
const MESSAGE_BYTES: usize = 256 * 1024;

/// The text of an answer, message by message.
#[derive(Debug, Default)]
pub struct Speech {
    spoke: bool,
    parted: bool,
    /// The message so far; none once it has become too long to be kept.
    message: Option<String>,
    /// How much of the message was told anew.
    retold: Option<usize>,
}

impl Speech {
    /// What comes next belongs to a new message.
    pub fn part(&mut self) {
        // A message that is told anew begins anew too.
        if self.retold != Some(0) {
            self.retold = None;
            self.parted = self.spoke;
        }
    }

    /// The CLI asks the model once more: what comes next tells the message anew. What was said already is not said again. If
    /// the model now says something else, that is a new message, for nothing can be taken back.
    pub fn again(&mut self) {
        if !self.spoke || self.parted {
            return;
        }
        match &self.message {
            Some(_) => self.retold = Some(0),
            None => self.part(),
        }
    }

    /// Adds text to the message. Empty text is nothing.
    pub fn say(&mut self, text: &str, events: &mut Vec<Event>) {
        if text.is_empty() {
            return;
        }
        let Some(at) = self.retold else {
            return self.add(text, events);
        };
        let (known, ahead) = self.message.as_deref().unwrap_or_default().split_at_checked(at).unwrap_or_default();
        if ahead.starts_with(text) {
            self.retold = Some(at + text.len());
        } else if let Some(new) = text.strip_prefix(ahead) {
            self.retold = None;
            self.add(new, events);
        } else {
            let whole = format!("{known}{text}");
            self.retold = None;
            self.parted = true;
            self.add(&whole, events);
        }
    }

    /// Whether there was any text.
    pub fn spoke(&self) -> bool {
        self.spoke
    }

    fn add(&mut self, text: &str, events: &mut Vec<Event>) {
        if self.parted || !self.spoke {
            self.message = Some(String::new());
        }
        if self.parted {
            events.push(Event::TextBreak);
        }
        self.spoke = true;
        self.parted = false;
        self.message = self
            .message
            .take()
            .filter(|message| message.len() + text.len() <= MESSAGE_BYTES)
            .map(|message| message + text);
        events.push(Event::Text(text.into()));
    }
}
