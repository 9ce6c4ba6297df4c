//! What a request asks, by which its repetition is recognised. Claude Code repeats a stream that failed as a whole request, and may
//! lower its limit: it asks the same.

use std::borrow::Cow;

use crate::mend;
use crate::raw::Json;

/// The keys that determine the form and the length of the answer alone.
const FORM: [&str; 2] = ["stream", "max_tokens"];

/// A body without the form of the answer.
#[derive(Debug)]
pub struct Question<'a>(Json<'a>);

impl<'a> Question<'a> {
    /// Reads a body. `None` if it is not JSON.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        mend::json(body).ok().map(Self)
    }

    /// The keys and values that determine what is asked, one after the other.
    pub fn parts(&self) -> Vec<Cow<'_, [u8]>> {
        let entries = self.0.value().entries().unwrap_or_default();
        let asked = entries.into_iter().filter(|(key, _)| !FORM.contains(&key.as_str()));
        asked.flat_map(|(key, value)| [key.into_bytes().into(), value.json().as_bytes().into()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(body: &str) -> Vec<String> {
        let question = Question::read(body.as_bytes()).unwrap();
        question.parts().iter().map(|part| String::from_utf8(part.to_vec()).unwrap()).collect()
    }

    #[test]
    fn form_and_length_of_the_answer_are_no_part_of_the_question() {
        let streamed = parts(r#"{"model": "m", "max_tokens": 128000, "messages": [{"a": 1}], "stream": true}"#);
        assert_eq!(streamed, ["model", "\"m\"", "messages", "[{\"a\": 1}]"]);
        assert_eq!(parts(r#"{"model": "m","max_tokens": 64000, "messages": [{"a": 1}],"stream": false}"#), streamed);
        assert_ne!(parts(r#"{"model": "m", "messages": [{"a": 2}]}"#), streamed);
        assert!(Question::read(b"{").is_none());
    }
}
