//! Server-sent events as they arrive.

use std::io::{BufRead, BufReader};

use super::http::Body;

/// An event or a comment of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StreamItem {
    /// The data of an event without a name.
    Data(String),
    /// The name and the data of an event.
    Named(String, String),
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
            StreamItem::Data(data) | StreamItem::Named(_, data) => Some(data),
            StreamItem::Comment(_) => None,
        })
    }
}

impl Iterator for Events {
    type Item = StreamItem;

    /// Waits for the next event; `None` at the end of the stream.
    fn next(&mut self) -> Option<StreamItem> {
        let line = self.line()?;
        match (line.strip_prefix("data: "), line.strip_prefix(": "), line.strip_prefix("event: ")) {
            (Some(data), ..) => Some(StreamItem::Data(data.to_owned())),
            (_, Some(comment), _) => Some(StreamItem::Comment(comment.to_owned())),
            (.., Some(name)) => {
                let line = self.line().expect("the data of the event");
                let data = line.strip_prefix("data: ").unwrap_or_else(|| panic!("not the data of {name}: {line:?}"));
                Some(StreamItem::Named(name.to_owned(), data.to_owned()))
            }
            (None, None, None) => panic!("not an event: {line:?}"),
        }
    }
}

impl Events {
    /// The next line that is not empty.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        while line.trim_end().is_empty() {
            line.clear();
            if self.lines.read_line(&mut line).expect("an event") == 0 {
                return None;
            }
        }
        Some(line.trim_end_matches('\n').to_owned())
    }
}
