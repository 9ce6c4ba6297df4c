//! Strings, numbers and names as CLIs write them, in JSON or a similar form.

use serde_json::{Number, Value};

/// Whether a byte may be part of a number or a name.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// The value of a number or a name; `None` if it is neither. A number that is too large becomes the largest.
pub(super) fn word(word: &str) -> Option<Value> {
    match word {
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        "null" | "NaN" | "Infinity" | "-Infinity" | "undefined" => return Some(Value::Null),
        _ => {}
    }
    if let Ok(number) = word.parse::<u64>() {
        return Some(number.into());
    }
    if let Ok(number) = word.parse::<i64>() {
        return Some(number.into());
    }
    let number = word.bytes().any(|byte| byte.is_ascii_digit()).then(|| word.parse::<f64>().ok())??;
    Number::from_f64(number.clamp(f64::MIN, f64::MAX)).map(Value::Number)
}

/// The content between the quotes of a string, with its escapes decoded.
pub(super) fn string(raw: &str) -> String {
    let mut plain = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, escaped)) = rest.split_once('\\') {
        plain.push_str(before);
        rest = escape(escaped, &mut plain);
    }
    plain.push_str(rest);
    plain
}

/// Decodes an escape after its backslash and returns the rest. An unknown escape is kept as is.
fn escape<'a>(escaped: &'a str, plain: &mut String) -> &'a str {
    let mut chars = escaped.chars();
    match chars.next() {
        Some(c @ ('"' | '\\' | '/' | '\'')) => plain.push(c),
        Some('b') => plain.push('\u{8}'),
        Some('f') => plain.push('\u{c}'),
        Some('n') => plain.push('\n'),
        Some('r') => plain.push('\r'),
        Some('t') => plain.push('\t'),
        Some('u') if unit(chars.as_str()).is_some() => return unicode(chars.as_str(), plain),
        _ => {
            plain.push('\\');
            return escaped;
        }
    }
    chars.as_str()
}

/// Decodes the four digits after `\u`, and the second half of a surrogate pair. A lone surrogate becomes U+FFFD.
fn unicode<'a>(digits: &'a str, plain: &mut String) -> &'a str {
    let Some((first, behind)) = unit(digits) else { return digits };
    let second = behind.strip_prefix("\\u").and_then(unit);
    let pair = second.and_then(|(second, behind)| {
        let c = char::decode_utf16([first, second]).next()?.ok().filter(|c| u32::from(*c) > 0xffff)?;
        Some((c, behind))
    });
    let (c, behind) =
        pair.unwrap_or_else(|| (char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER), behind));
    plain.push(c);
    behind
}

fn unit(digits: &str) -> Option<(u16, &str)> {
    let (digits, behind) = digits.split_at_checked(4)?;
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hexadecimal.then(|| u16::from_str_radix(digits, 16).ok()).flatten().map(|unit| (unit, behind))
}
