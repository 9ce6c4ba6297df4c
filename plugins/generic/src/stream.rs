//! Owns the reading of JSON values, wherever they stand in the output. What is none is plain text, which counts only if no
//! value came.

use agentbay_plugin_sdk::{Category, Event, JsonReader, LastBlock, NO_OUTPUT, Outcome, Piece, Value, failed, finished};

use crate::fault::Fault;
use crate::options::Settings;
use crate::reading::Reading;

/// What has come of a stream.
#[derive(Debug)]
pub(crate) struct Stream {
    json: JsonReader,
    reading: Reading,
    /// The text, until the first value shows that it is a stream.
    plain: LastBlock,
    /// A value came that text would not have in it.
    is_stream: bool,
    /// What comes next stands behind something on its line.
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

    /// Takes more output, cut anywhere.
    pub(crate) fn push(&mut self, text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        let mut json = std::mem::take(&mut self.json);
        json.push(text, &mut |piece| self.hear(piece, &mut events));
        self.json = json;
        events
    }

    /// The error that the CLI told of, if it holds.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.reading.fault()
    }

    /// What there is to show of a run of which nothing was understood; empty if anything was.
    pub(crate) fn unread(&mut self) -> String {
        self.finish();
        if self.reading.spoke() {
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
            // A lone string is an answer too.
            Some(text) => finished(Some(match text.parse::<Value>() {
                Ok(Value::String(string)) => string,
                Ok(_) | Err(_) => text,
            })),
        }
    }

    fn finish(&mut self) {
        // What only the end shows comes too late to be passed on; nothing whole is held back until then.
        let mut late = Vec::new();
        std::mem::take(&mut self.json).finish(&mut |piece| self.hear(piece, &mut late));
    }

    fn hear(&mut self, piece: Piece<'_>, events: &mut Vec<Event>) {
        match piece {
            Piece::Text(text) => {
                self.is_within_line = !text.ends_with('\n') && (self.is_within_line || !text.trim().is_empty());
                if !self.is_stream {
                    self.plain.push(text);
                }
            }
            Piece::Object(value, source) => {
                let is_known = self.reading.read(&value, events);
                // An object in the middle of a line that means nothing is a part of what the line says.
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
