//! Reads JSON values anywhere in the output. Everything else is plain text, which counts only if there was no value.

use agentbay_plugin_sdk::{Category, Event, JsonReader, LastBlock, NO_OUTPUT, Outcome, Piece, Value, failed, finished};

use crate::fault::Fault;
use crate::options::Settings;
use crate::reading::Reading;

/// The state of a stream.
#[derive(Debug)]
pub(crate) struct Stream {
    json: JsonReader,
    reading: Reading,
    /// The text, until the first value shows that it is a stream.
    plain: LastBlock,
    /// A value was read that plain text would not contain.
    is_stream: bool,
    /// The next value follows something on its line.
    is_within_line: bool,
}

impl Stream {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            json: JsonReader::default(),
            reading: Reading::new(settings),
            plain: LastBlock::default(),
            is_stream: false,
            is_within_line: false,
        }
    }

    /// Reads more output, split anywhere.
    pub(crate) fn push(&mut self, text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        let mut json = std::mem::take(&mut self.json);
        json.push(text, &mut |piece| self.read_piece(piece, &mut events));
        self.json = json;
        events
    }

    /// The error that the CLI reported, if it counts.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.reading.fault()
    }

    /// The output of a run of which nothing was understood; empty otherwise.
    pub(crate) fn unrecognized(&mut self) -> String {
        self.finish();
        if self.reading.has_text() {
            return String::new();
        }
        let plain = if self.is_stream { None } else { self.plain.take() };
        plain.unwrap_or_else(|| self.reading.last().to_owned())
    }

    /// The outcome of a process that exited with 0.
    pub(crate) fn end(&mut self) -> Outcome {
        self.finish();
        if let Some(outcome) = self.reading.end() {
            return outcome;
        }
        match self.plain.take().filter(|_| !self.is_stream) {
            None => finished(Some(NO_OUTPUT.to_owned())),
            Some(text) if text.starts_with('{') => {
                failed(Category::Unknown, "The CLI ended in the middle of a JSON value", text)
            }
            // A single string is an answer too.
            Some(text) => finished(Some(match text.parse::<Value>() {
                Ok(Value::String(string)) => string,
                Ok(_) | Err(_) => text,
            })),
        }
    }

    fn finish(&mut self) {
        // Values found only at the end are too late to be emitted; no complete value is held back until then.
        let mut late = Vec::new();
        std::mem::take(&mut self.json).finish(&mut |piece| self.read_piece(piece, &mut late));
    }

    fn read_piece(&mut self, piece: Piece<'_>, events: &mut Vec<Event>) {
        match piece {
            Piece::Text(text) => {
                self.is_within_line = !text.ends_with('\n') && (self.is_within_line || !text.trim().is_empty());
                if !self.is_stream {
                    self.plain.push(text);
                }
            }
            Piece::Object(value, source) => {
                let is_known = self.reading.read(&value, events);
                // An unknown object in the middle of a line is part of the line's text.
                if is_known || !self.is_within_line {
                    self.is_stream = true;
                    self.reading.count(&value, source);
                } else if !self.is_stream {
                    self.plain.push(source);
                }
                self.is_within_line = true;
            }
        }
    }
}
