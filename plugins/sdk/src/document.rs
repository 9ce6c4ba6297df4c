//! Owns JSON that goes over several lines among lines that are none, as CLIs print it in their one-shot JSON mode. It begins
//! with a line that begins with a bracket and ends with a line that begins with the bracket's counterpart, both without
//! white space before them: so it is found without counting brackets, which may stand in strings.

use serde_json::Value;

/// How many bytes of a document are kept. A longer one is plain text.
const DOCUMENT_BYTES: usize = 4 * 1024 * 1024;

/// The document that is being collected.
#[derive(Debug, Default)]
pub(crate) struct Document {
    lines: String,
    closing: Option<char>,
}

impl Document {
    /// Takes a line. Gives what stands in the document if the line ends one: an object, or the items of an array.
    pub(crate) fn push(&mut self, line: &str) -> Vec<Value> {
        match line.chars().next() {
            Some('{') => self.begin('}'),
            Some('[') => self.begin(']'),
            _ => {}
        }
        let Some(closing) = self.closing else {
            return Vec::new();
        };
        if self.lines.len() + line.len() > DOCUMENT_BYTES {
            *self = Self::default();
            return Vec::new();
        }
        self.lines.push_str(line);
        self.lines.push('\n');
        if line.starts_with(closing) || (self.lines.len() == line.len() + 1 && line.trim_end().ends_with(closing)) {
            return values(&std::mem::take(self).lines);
        }
        Vec::new()
    }

    fn begin(&mut self, closing: char) {
        *self = Self { lines: String::new(), closing: Some(closing) };
    }
}

fn values(document: &str) -> Vec<Value> {
    match document.parse::<Value>() {
        Ok(Value::Array(items)) => items,
        Ok(object @ Value::Object(_)) => vec![object],
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => Vec::new(),
    }
}
