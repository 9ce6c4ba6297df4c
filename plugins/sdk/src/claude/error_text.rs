//! Owns errors that a CLI prints as if the assistant had said them: `[API Error: 401 …]`. Such text is held back until it
//! is known what it is. An error is the last thing of a run, so text that something follows is none.

use serde_json::Value;

use crate::json::{count, is_true, some_text, text};
use crate::{Failure, classify};

/// Text that may be an error.
#[derive(Debug)]
pub(super) struct ErrorText {
    begins: &'static str,
    held: String,
}

impl ErrorText {
    pub(super) fn new(begins: &'static str) -> Self {
        Self { begins, held: String::new() }
    }

    /// Holds back from where an error may begin, and gives the text before.
    pub(super) fn hold<'a>(&mut self, text: &'a str) -> &'a str {
        let Some((before, _)) = text.split_once(self.begins).filter(|_| !self.begins.is_empty()) else {
            return text;
        };
        text[before.len()..].clone_into(&mut self.held);
        before
    }

    /// Gives what was held back.
    pub(super) fn release(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// The failure that the text was, if the result does not tell it as one: an older version reports success then. That
    /// nothing was generated tells it from an answer of these words.
    pub(super) fn failure(&self, line: &Value) -> Option<Failure> {
        let is_result = !self.held.is_empty() && some_text(line, &["result"]) == Some(&self.held);
        let is_nothing = count(line, &["usage", "output_tokens"]) == 0;
        let is_told = is_true(line, &["is_error"]) || text(line, &["subtype"]) != Some("success");
        (is_result && is_nothing && !is_told).then(|| classify::failure(&self.held))
    }
}
