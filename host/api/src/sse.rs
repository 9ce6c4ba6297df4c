//! Server-sent events: lines of `data:`, and comments as signs of life.

use axum::http::{HeaderName, header};
use bytes::Bytes;

/// The headers of a stream. Without the last one, reverse proxies hold it back until they have enough of it.
pub(super) const HEADERS: [(HeaderName, &str); 3] = [
    (header::CONTENT_TYPE, "text/event-stream"),
    (header::CACHE_CONTROL, "no-cache, no-transform"),
    (HeaderName::from_static("x-accel-buffering"), "no"),
];

/// One event. The JSON is one line already; the two characters that some clients take for line ends are escaped.
pub(super) fn data(json: &str) -> Bytes {
    let json = json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    Bytes::from(format!("data: {json}\n\n"))
}

/// The end of a stream of the chat surface.
pub(super) const DONE: Bytes = Bytes::from_static(b"data: [DONE]\n\n");

/// A sign of life that clients of the chat surface pass over.
pub(super) const COMMENT: Bytes = Bytes::from_static(b": working\n\n");

/// A remark for whoever reads the stream; clients pass over it.
pub(super) fn comment(text: &str) -> Bytes {
    Bytes::from(format!(": {}\n\n", text.replace(['\r', '\n'], " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_clients_take_for_line_ends_are_escaped() {
        assert_eq!(data("\"a\u{2028}b\u{2029}\""), "data: \"a\\u2028b\\u2029\"\n\n");
    }
}
