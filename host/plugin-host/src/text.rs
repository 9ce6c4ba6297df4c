//! Words of others in one line.

/// The engine's longer messages as one line, for logs and lists.
pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
