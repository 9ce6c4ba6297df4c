//! Server-sent events: `data:` lines, and comments that keep a stream alive.

use axum::http::{HeaderName, header};
use bytes::Bytes;

/// The headers of a stream. The last one keeps reverse proxies from buffering it.
pub(super) const HEADERS: [(HeaderName, &str); 3] = [
    (header::CONTENT_TYPE, "text/event-stream"),
    (header::CACHE_CONTROL, "no-cache, no-transform"),
    (HeaderName::from_static("x-accel-buffering"), "no"),
];

/// An event. The JSON is a single line; the two characters that some clients treat as line ends are escaped.
pub(super) fn data(json: &str) -> Bytes {
    let json = json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    Bytes::from(format!("data: {json}\n\n"))
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
    }
}
