//! Server-sent events as they arrive.

use std::io::{BufRead, BufReader};

use super::http::Body;

/// One thing that was said in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// A line of data.
    Data(String),
    /// A comment.
    Comment(String),
}

/// The events of a stream. Dropping it is what a client does that goes away.
#[derive(Debug)]
pub(crate) struct Events {
    lines: BufReader<Body>,
}

impl Events {
    pub(super) fn of(body: Body) -> Self {
        Self { lines: BufReader::new(body) }
    }

    /// The data of the next event that is none of the comments.
    pub(crate) fn data(&mut self) -> Option<String> {
        self.find_map(|said| match said {
            Said::Data(data) => Some(data),
            Said::Comment(_) => None,
        })
    }
}

impl Iterator for Events {
    type Item = Said;

    /// Waits for the next event; none if the stream has ended.
    fn next(&mut self) -> Option<Said> {
        let mut line = String::new();
        while line.trim_end().is_empty() {
            line.clear();
            if self.lines.read_line(&mut line).expect("an event") == 0 {
                return None;
            }
        }
        let line = line.trim_end_matches('\n');
        match (line.strip_prefix("data: "), line.strip_prefix(": ")) {
            (Some(data), _) => Some(Said::Data(data.to_owned())),
            (None, Some(comment)) => Some(Said::Comment(comment.to_owned())),
            (None, None) => panic!("no event of the chat surface: {line:?}"),
        }
    }
}
