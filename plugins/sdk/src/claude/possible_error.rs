//! Errors that a CLI prints as text of the assistant: `[API Error: 401 …]`. Such text is held back until its kind is known. An
//! error is the last output of a run, so text that something follows is not an error.

use serde_json::Value;

use crate::json::{count, is_true, non_empty_text, text};
use crate::{Failure, classify};

/// Text that may be an error.
#[derive(Debug)]
pub(super) struct PossibleError {
    prefix: &'static str,
    held: String,
}

impl PossibleError {
    pub(super) fn new(prefix: &'static str) -> Self {
        Self { prefix, held: String::new() }
    }

    /// Holds back the text from a possible error on, and returns the text before it.
    pub(super) fn hold<'a>(&mut self, text: &'a str) -> &'a str {
        let Some((before, _)) = text.split_once(self.prefix).filter(|_| !self.prefix.is_empty()) else {
            return text;
        };
        text[before.len()..].clone_into(&mut self.held);
        before
    }

    /// Takes the held-back text.
    pub(super) fn release(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// The failure in the held-back text, if the result does not report one: an older version reports success then. An error has no
    /// output tokens, unlike an answer with the same words.
    pub(super) fn failure(&self, line: &Value) -> Option<Failure> {
        let is_result = !self.held.is_empty() && non_empty_text(line, &["result"]) == Some(&self.held);
        let is_nothing = count(line, &["usage", "output_tokens"]) == 0;
        let is_reported = is_true(line, &["is_error"]) || text(line, &["subtype"]) != Some("success");
        (is_result && is_nothing && !is_reported).then(|| classify::failure(&self.held))
    }
}
