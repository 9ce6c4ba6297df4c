//! Messages of the engine on one line.

/// A message as one line, for logs and lists.
pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
