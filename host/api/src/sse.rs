//! Server-sent events: `data:` lines with or without a name, and comments that keep a stream alive.

use std::borrow::Cow;

use axum::http::{HeaderName, HeaderValue, header};
use bytes::Bytes;

/// The headers of a stream. The last one keeps reverse proxies from buffering it.
pub(super) const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
];

/// An event without a name.
pub(super) fn data(json: &str) -> Bytes {
    Bytes::from(format!("data: {}\n\n", single_line(json)))
}

/// An event with a name.
pub(super) fn event(name: &str, json: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {}\n\n", single_line(json)))
}

/// JSON has no line feeds outside of strings here; the two characters that some clients treat as line ends are escaped.
fn single_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\u{2028}', '\u{2029}']) {
        Cow::Owned(json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"))
    } else {
        Cow::Borrowed(json)
    }
}

/// The end of a stream of the chat surface.
pub(super) const DONE: Bytes = Bytes::from_static(b"data: [DONE]\n\n");

/// A comment that keeps a silent stream alive; clients ignore it.
pub(super) const COMMENT: Bytes = Bytes::from_static(b": working\n\n");

/// A remark for a person who reads the stream; clients ignore it.
pub(super) fn comment(text: &str) -> Bytes {
    Bytes::from(format!(": {}\n\n", text.replace(['\r', '\n'], " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_clients_treat_as_line_ends_are_escaped() {
        assert_eq!(data("\"a\u{2028}b\u{2029}\""), "data: \"a\\u2028b\\u2029\"\n\n");
        assert_eq!(event("x", "\"\u{2028}\""), "event: x\ndata: \"\\u2028\"\n\n");
    }
}
