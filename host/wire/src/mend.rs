//! Repairs the JSON of a body. Clients send what strict parsers refuse: a byte order mark, lone surrogates, NaN, control
//! characters in strings. A client cannot repair a history that contains one.

use std::borrow::Cow;

use super::raw::Json;
use crate::malformed::Malformed;

/// Returns a body as valid JSON.
pub(crate) fn json(bytes: &[u8]) -> Result<Json<'_>, Malformed> {
    let text = match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_start_matches('\u{feff}')),
        Cow::Owned(text) => Cow::Owned(text.trim_start_matches('\u{feff}').to_owned()),
    };
    let may_have_halves = text.contains("\\ud") || text.contains("\\uD");
    let text = if may_have_halves { Cow::Owned(mended(&text)) } else { text };
    Json::new(text)
        .or_else(|(_, text)| Json::new(Cow::Owned(mended(&text))))
        .map_err(|(error, _)| Malformed::body(format!("the body is not valid JSON: {error}")))
}

fn mended(json: &str) -> String {
    let mut mended = String::with_capacity(json.len());
    let (mut rest, mut in_string) = (json, false);
    while let Some(first) = rest.chars().next() {
        let (length, instead) = if in_string { in_text(rest, first) } else { outside(rest, first) };
        let (piece, after) = rest.split_at(length);
        mended.push_str(instead.unwrap_or(piece));
        if instead.is_none() && piece == "\"" {
            in_string = !in_string;
        }
        rest = after;
    }
    mended
}

/// The length of the next piece of a string, and its replacement.
fn in_text(rest: &str, first: char) -> (usize, Option<&'static str>) {
    match first {
        '\\' => escape(rest),
        '\n' => (1, Some("\\n")),
        '\r' => (1, Some("\\r")),
        '\t' => (1, Some("\\t")),
        '\0'..='\u{1f}' => (1, Some("\\ufffd")),
        _ => (first.len_utf8(), None),
    }
}

fn escape(rest: &str) -> (usize, Option<&'static str>) {
    const UNIT: usize = "\\ud800".len();
    match unit(rest) {
        Some(0xd800..0xdc00) => match rest.get(UNIT..).and_then(unit) {
            Some(0xdc00..0xe000) => (2 * UNIT, None),
            _ => (UNIT, Some("\\ufffd")),
        },
        Some(0xdc00..0xe000) => (UNIT, Some("\\ufffd")),
        // A backslash and the escaped character.
        _ => (1 + rest.chars().nth(1).map_or(0, char::len_utf8), None),
    }
}

/// The code unit of an escape such as `\u0041`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

fn outside(rest: &str, first: char) -> (usize, Option<&'static str>) {
    for word in ["NaN", "Infinity", "-Infinity", "+Infinity", "undefined"] {
        if rest.starts_with(word) {
            return (word.len(), Some("null"));
        }
    }
    (first.len_utf8(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> String {
        json(bytes).unwrap().value().json().to_owned()
    }

    #[test]
    fn valid_json_stays_as_it_is() {
        for valid in [r#"{"a": "\ud83d\ude00 \\ud800 \"NaN", "b": [1e999, -0]}"#, "null", "[ ]"] {
            assert_eq!(read(valid.as_bytes()), valid);
        }
    }

    #[test]
    fn json_that_strict_parsers_refuse_is_repaired() {
        for (sent, expected) in [
            ("\u{feff}{}", "{}"),
            (
                r#"["\ud83d", "\uDE00\ud83dx", "\ud83d\ud83d\ude00"]"#,
                r#"["\ufffd", "\ufffd\ufffdx", "\ufffd\ud83d\ude00"]"#,
            ),
            (r#"{"t": NaN, "u": [-Infinity, Infinity, undefined]}"#, r#"{"t": null, "u": [null, null, null]}"#),
            ("[\"a\nb\tc\u{1}\"]", r#"["a\nb\tc\ufffd"]"#),
        ] {
            assert_eq!(read(sent.as_bytes()), expected);
        }
        assert_eq!(read(b"[\"\xed\xa0\xbd \xff\"]"), "[\"\u{fffd}\u{fffd}\u{fffd} \u{fffd}\"]");
    }

    #[test]
    fn invalid_json_is_reported_with_its_place() {
        for (sent, says) in [("", "EOF"), ("{\"a\": }", "line 1 column 7"), ("{} {}", "trailing"), ("[\"\\ud", "EOF")] {
            let error = json(sent.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("not valid JSON") && error.contains(says), "{error}");
        }
    }
}
