//! The text of an answer: where one message of the assistant ends and the next begins, and messages that the CLI repeats.
//! A `text-break` is emitted only between two texts, when the second one arrives, so that no answer starts or ends with one.

use crate::Event;

/// Maximum number of bytes of a message that are kept to recognise its repetition.
const MESSAGE_BYTES: usize = 256 * 1024;

/// The text of an answer, message by message. Emits each text once.
#[derive(Debug, Default)]
pub struct AnswerText {
    has_text: bool,
    at_break: bool,
    /// The message so far; `None` once it is too long to keep.
    message: Option<String>,
    /// Number of bytes that were repeated so far, while the message is repeated.
    repeated: Option<usize>,
}

impl AnswerText {
    /// Ends the current message.
    pub fn end_message(&mut self) {
        // A repetition may start with the start of a message.
        if self.repeated != Some(0) {
            self.repeated = None;
            self.at_break = self.has_text;
        }
    }

    /// Called when the CLI retries the model: the message starts again. Repeated text is not emitted twice. Different text
    /// becomes a new message, since emitted text cannot be taken back.
    pub fn restart_message(&mut self) {
        if !self.has_text || self.at_break {
            return;
        }
        match &self.message {
            Some(_) => self.repeated = Some(0),
            None => self.end_message(),
        }
    }

    /// Adds text to the current message. Empty text has no effect.
    pub fn push(&mut self, text: &str, events: &mut Vec<Event>) {
        if text.is_empty() {
            return;
        }
        let Some(at) = self.repeated else {
            return self.add(text, events);
        };
        let (known, ahead) = self.message.as_deref().unwrap_or_default().split_at_checked(at).unwrap_or_default();
        if ahead.starts_with(text) {
            self.repeated = Some(at + text.len());
        } else if let Some(new) = text.strip_prefix(ahead) {
            self.repeated = None;
            self.add(new, events);
        } else {
            let whole = format!("{known}{text}");
            self.repeated = None;
            self.at_break = true;
            self.add(&whole, events);
        }
    }

    /// Whether any text was emitted.
    pub fn has_text(&self) -> bool {
        self.has_text
    }

    fn add(&mut self, text: &str, events: &mut Vec<Event>) {
        if self.at_break || !self.has_text {
            self.message = Some(String::new());
        }
        if self.at_break {
            events.push(Event::TextBreak);
        }
        self.has_text = true;
        self.at_break = false;
        self.message = self
            .message
            .take()
            .filter(|message| message.len() + text.len() <= MESSAGE_BYTES)
            .map(|message| message + text);
        events.push(Event::Text(text.into()));
    }
}
