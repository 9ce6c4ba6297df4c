//! Server-sent events as they arrive.

use std::io::{BufRead, BufReader};

use super::http::Body;

/// An event or a comment of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StreamItem {
    /// A line of data.
    Data(String),
    /// A comment.
    Comment(String),
}

/// The events of a stream. Dropping them is a client that disconnects.
#[derive(Debug)]
pub(crate) struct Events {
    lines: BufReader<Body>,
}

impl Events {
    pub(super) fn of(body: Body) -> Self {
        Self { lines: BufReader::new(body) }
    }

    /// The data of the next event, without comments.
    pub(crate) fn data(&mut self) -> Option<String> {
        self.find_map(|item| match item {
            StreamItem::Data(data) => Some(data),
            StreamItem::Comment(_) => None,
        })
    }
}

impl Iterator for Events {
    type Item = StreamItem;

    /// Waits for the next event; `None` at the end of the stream.
    fn next(&mut self) -> Option<StreamItem> {
        let mut line = String::new();
        while line.trim_end().is_empty() {
            line.clear();
            if self.lines.read_line(&mut line).expect("an event") == 0 {
                return None;
            }
        }
        let line = line.trim_end_matches('\n');
        match (line.strip_prefix("data: "), line.strip_prefix(": ")) {
            (Some(data), _) => Some(StreamItem::Data(data.to_owned())),
            (None, Some(comment)) => Some(StreamItem::Comment(comment.to_owned())),
            (None, None) => panic!("not an event of the chat surface: {line:?}"),
        }
    }
}
