//! Owns tolerant access to JSON: a field that is missing or of another type is simply not there. Formats change between
//! versions of a CLI, and a reader must not fall over that.

use serde_json::{Deserializer, Value};

/// The object at the beginning of a text, whatever follows it; none if the text begins otherwise or the object is not whole.
pub fn leading_object(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    Deserializer::from_str(text).into_iter().next()?.ok()
}

/// The value at a path of field names; none if a step is missing.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |inner, name| inner.get(name))
}

/// The string at a path.
pub fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path).and_then(Value::as_str)
}

/// The string at a path that is not empty.
pub fn some_text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    text(value, path).filter(|found| !found.is_empty())
}

/// The number at a path; 0 if there is none, as for a token count that an older version does not tell.
pub fn count(value: &Value, path: &[&str]) -> u64 {
    at(value, path).and_then(Value::as_u64).unwrap_or(0)
}

/// Whether there is a `true` at a path.
pub fn is_true(value: &Value, path: &[&str]) -> bool {
    at(value, path).and_then(Value::as_bool).unwrap_or(false)
}

/// The items of the array at a path; none if there is no array.
pub fn items<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The value at a path as text: a string as it is, anything else as JSON, nothing as the empty text.
pub fn shown(value: &Value, path: &[&str]) -> String {
    match at(value, path) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => other.to_string(),
    }
}

/// The texts of an Anthropic-style list of content blocks (`[{"type":"text","text":"…"}]`), put together; a plain string
/// counts as one text. None if there is no text block.
pub fn content_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| text(block, &["text"])).collect();
            (!texts.is_empty()).then(|| texts.concat())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}
