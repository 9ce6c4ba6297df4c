//! Tolerant access to JSON: a field that is missing or has another type counts as absent. Formats change between versions of a
//! CLI, and a reader must not fail because of that.

use serde_json::Value;

use crate::JsonReader;

/// The object at the start of a text, regardless of what follows; `None` if the text starts otherwise or the object is incomplete.
pub fn leading_object(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    JsonReader::objects(text).into_iter().next()
}

/// The value at a path of field names; `None` if a step is missing.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |inner, name| inner.get(name))
}

/// The string at a path.
pub fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path).and_then(Value::as_str)
}

/// The string at a path, if it is not empty.
pub fn non_empty_text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    text(value, path).filter(|found| !found.is_empty())
}

/// The count at a path, also if it is written as a float or as a string; 0 if it is absent, as for tokens that an older version
/// does not count, or negative.
pub fn count(value: &Value, path: &[&str]) -> u64 {
    let exact = at(value, path).and_then(Value::as_u64);
    // A float that is too large becomes the largest number.
    exact.unwrap_or_else(|| number(value, path).map_or(0, |number| number.round() as u64))
}

/// The integer at a path, such as an exit code, a status or the number of a request; `3.0` and `"3"` count too.
pub fn integer(value: &Value, path: &[&str]) -> Option<i64> {
    let exact = at(value, path).and_then(Value::as_i64);
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < i64::MAX as f64;
    exact.or_else(|| number(value, path).filter(whole).map(|number| number as i64))
}

fn number(value: &Value, path: &[&str]) -> Option<f64> {
    match at(value, path)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The id at a path: a string as is, a number without a zero fraction; empty if absent.
pub fn id(value: &Value, path: &[&str]) -> String {
    let number = at(value, path).filter(|id| id.is_number()).and_then(|_| integer(value, path));
    number.map_or_else(|| to_text(value, path), |number| number.to_string())
}

/// The id at a path, if it is a non-empty string or a number.
pub fn non_empty_id(value: &Value, path: &[&str]) -> Option<String> {
    let is_id = at(value, path).is_some_and(|id| id.is_string() || id.is_number());
    Some(id(value, path)).filter(|id| is_id && !id.is_empty())
}

/// Whether the value at a path is `true`, also written as a string or as 1.
pub fn is_true(value: &Value, path: &[&str]) -> bool {
    match at(value, path) {
        Some(Value::Bool(is_true)) => *is_true,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        Some(Value::Number(number)) => number.as_f64() == Some(1.0),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

/// The items of the array at a path; empty if there is no array.
pub fn items<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The value at a path as text: a string as is, anything else as JSON; empty if absent.
pub fn to_text(value: &Value, path: &[&str]) -> String {
    match at(value, path) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => other.to_string(),
    }
}

/// The joined texts of an Anthropic-style list of content blocks (`[{"type":"text","text":"…"}]`). A plain string counts as one
/// text, as does one block outside a list. `None` if there is no text block.
pub fn content_text(content: &Value) -> Option<String> {
    let block = |block: &Value| block.as_str().or_else(|| text(block, &["text"])).map(String::from);
    match content {
        Value::String(_) | Value::Object(_) => block(content),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks.iter().filter_map(block).collect();
            (!texts.is_empty()).then(|| texts.concat())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The message of an error value: a string, or an object with the message in one of its fields or of a nested object's. JSON
/// inside a string is kept as is. Empty if there is no error.
pub fn error_message(error: &Value) -> String {
    const WORDS: [&str; 6] = ["message", "error", "details", "detail", "data", "errorMessage"];
    let mut at = error;
    loop {
        match at {
            Value::String(words) => return words.clone(),
            Value::Object(_) => {}
            Value::Array(_) => return content_text(at).unwrap_or_else(|| at.to_string()),
            Value::Null | Value::Bool(false) => return String::new(),
            Value::Bool(true) | Value::Number(_) => return error.to_string(),
        }
        let has_content = |value: &&Value| match value {
            Value::String(words) => !words.is_empty(),
            Value::Object(_) => true,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
        };
        match WORDS.iter().find_map(|name| at.get(name).filter(has_content)) {
            Some(inner) => at = inner,
            None => return at.to_string(),
        }
    }
}

/// Whether the value of an error field reports an error: anything that is not empty, `null` or `false`.
pub fn is_error(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(words) => !words.is_empty(),
        Value::Array(errors) => !errors.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}
