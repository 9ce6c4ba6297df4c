//! The grammar of one object: the allowed order of tokens, and the values that are being built, without recursion.

use serde_json::{Map, Value};

use super::scalar;

/// Maximum nesting depth of containers. Deeper ones are kept as a string: values are dropped, cloned and serialised recursively.
const DEPTH: usize = 120;

/// The result of reading.
#[derive(Debug)]
pub(super) enum Step {
    /// Everything was read, and the object is not complete.
    More,
    /// The byte at this position is invalid.
    Invalid(usize),
    /// The object is complete, with its length in bytes.
    Complete(Map<String, Value>, usize),
}

/// The expected token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    KeyOrEnd,
    Colon,
    Value,
    ValueOrEnd,
    CommaOrEnd,
}

/// The string or word that is being read, with its start.
#[derive(Clone, Copy, Debug)]
enum Token {
    String(usize),
    Word(usize),
}

/// A container that is being read.
#[derive(Debug)]
enum Open {
    Object { members: Map<String, Value>, key: String, starts_line: Option<usize> },
    Array(Vec<Value>),
}

/// An object that is being read. Positions are relative to its start.
#[derive(Debug)]
pub(super) struct Object {
    at: usize,
    next: Next,
    token: Option<Token>,
    open: Vec<Open>,
    /// The containers nested below the maximum depth; true for an object.
    deep: Vec<bool>,
    deep_from: usize,
    /// Positions of the complete objects that start a line.
    inner: Vec<(usize, usize)>,
}

impl Default for Object {
    /// An object before its opening bracket.
    fn default() -> Self {
        Self {
            at: 0,
            next: Next::Value,
            token: None,
            open: Vec::new(),
            deep: Vec::new(),
            deep_from: 0,
            inner: Vec::new(),
        }
    }
}

impl Object {
    /// Positions of the complete objects that start a line, in order, none within another.
    pub(super) fn inner(&self) -> &[(usize, usize)] {
        &self.inner
    }

    /// Reads on. `text` starts with the object, and is longer than in the previous call.
    pub(super) fn read(&mut self, text: &str) -> Step {
        while self.at < text.len() {
            let is_ahead = match self.token {
                Some(Token::String(from)) => self.string(text, from),
                Some(Token::Word(from)) => self.word(text, from),
                // The next character shows whether it belongs to this object.
                None if self.at + 1 == text.len() && self.may_be_an_event(text) => return Step::More,
                None if self.is_an_event(text) => return Step::Invalid(self.at),
                None => match self.punctuation(text) {
                    Ok(Some(members)) => return Step::Complete(members, self.at),
                    Ok(None) => Some(true),
                    Err(()) => None,
                },
            };
            match is_ahead {
                Some(true) => {}
                Some(false) => return Step::More,
                None => return Step::Invalid(self.at),
            }
        }
        Step::More
    }

    /// Continues a string. False: its end is missing. `None`: it is not a string, since it contains a line end.
    fn string(&mut self, text: &str, from: usize) -> Option<bool> {
        let bytes = text.as_bytes();
        loop {
            let ahead = bytes[self.at..].iter().position(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
            let Some(ahead) = ahead else {
                self.at = bytes.len();
                return Some(false);
            };
            self.at += ahead;
            match (bytes[self.at], bytes.get(self.at + 1)) {
                (b'\\', None) => return Some(false),
                (b'\\', Some(b'\n')) | (b'\n', _) => return None,
                (b'\\', Some(_)) => self.at += 2,
                _ => break,
            }
        }
        let raw = &text[from..self.at];
        self.at += 1;
        self.token = None;
        if self.next == Next::KeyOrEnd {
            self.next = Next::Colon;
            if let (true, Some(Open::Object { key, .. })) = (self.deep.is_empty(), self.open.last_mut()) {
                *key = scalar::string(raw);
            }
        } else if self.deep.is_empty() {
            self.put(Value::String(scalar::string(raw)));
        } else {
            self.next = Next::CommaOrEnd;
        }
        Some(true)
    }

    /// Continues a number or a name. False: its end is missing. `None`: there is no such name.
    fn word(&mut self, text: &str, from: usize) -> Option<bool> {
        let Some(length) = text.as_bytes()[self.at..].iter().position(|byte| !scalar::is_word(*byte)) else {
            self.at = text.len();
            return Some(false);
        };
        self.at += length;
        let value = scalar::word(&text[from..self.at])?;
        self.token = None;
        self.put(value);
        Some(true)
    }

    /// Reads one character between strings and words. Returns the members if it completes the object.
    fn punctuation(&mut self, text: &str) -> Result<Option<Map<String, Value>>, ()> {
        let byte = text.as_bytes()[self.at];
        match (byte, self.next) {
            (b' ' | b'\t' | b'\r' | b'\n', _) => {}
            (b'"', Next::KeyOrEnd | Next::Value | Next::ValueOrEnd) => self.token = Some(Token::String(self.at + 1)),
            (b':', Next::Colon) => self.next = Next::Value,
            (b',', Next::CommaOrEnd) => self.next = if self.is_in_object() { Next::KeyOrEnd } else { Next::ValueOrEnd },
            (b'{' | b'[', Next::Value | Next::ValueOrEnd) => self.begin(text, byte == b'{'),
            (b'}', Next::KeyOrEnd | Next::CommaOrEnd) if self.is_in_object() => {
                self.at += 1;
                return Ok(self.end(text));
            }
            (b']', Next::ValueOrEnd | Next::CommaOrEnd) if !self.is_in_object() => {
                self.at += 1;
                return Ok(self.end(text));
            }
            (_, Next::Value | Next::ValueOrEnd) if scalar::is_word(byte) => {
                self.token = Some(Token::Word(self.at));
                return Ok(None);
            }
            _ => return Err(()),
        }
        self.at += 1;
        Ok(None)
    }

    /// Whether an object starts a line here.
    fn may_be_an_event(&self, text: &str) -> bool {
        let is_within = !self.open.is_empty() && matches!(self.next, Next::Value | Next::ValueOrEnd);
        is_within && text[self.at..].starts_with('{') && starts_line(text, self.at)
    }

    /// Whether an object starts a line here that is not part of this one, which broke off at the end of the line before: no CLI
    /// prints the value of a key on its own line without indentation, nor each item of an inner list on its own line.
    fn is_an_event(&self, text: &str) -> bool {
        self.may_be_an_event(text) && (self.is_in_object() || text[self.at + 1..].starts_with(['"', '}']))
    }

    fn is_in_object(&self) -> bool {
        self.deep.last().copied().unwrap_or_else(|| matches!(self.open.last(), Some(Open::Object { .. })))
    }

    fn begin(&mut self, text: &str, is_object: bool) {
        self.next = if is_object { Next::KeyOrEnd } else { Next::ValueOrEnd };
        if self.open.len() < DEPTH {
            let starts_line = starts_line(text, self.at);
            self.open.push(if is_object {
                let starts_line = starts_line.then_some(self.at);
                Open::Object { members: Map::new(), key: String::new(), starts_line }
            } else {
                Open::Array(Vec::new())
            });
            return;
        }
        if self.deep.is_empty() {
            self.deep_from = self.at;
        }
        self.deep.push(is_object);
    }

    /// Ends the innermost container. Returns the members if it is the whole object.
    fn end(&mut self, text: &str) -> Option<Map<String, Value>> {
        if self.deep.pop().is_some() {
            if self.deep.is_empty() {
                self.put(Value::String(text[self.deep_from..self.at].to_owned()));
            }
            self.next = Next::CommaOrEnd;
            return None;
        }
        match self.open.pop()? {
            Open::Array(items) => self.put(Value::Array(items)),
            Open::Object { members, .. } if self.open.is_empty() => return Some(members),
            Open::Object { members, starts_line, .. } => {
                if let Some(from) = starts_line {
                    while self.inner.last().is_some_and(|(inner, _)| *inner > from) {
                        self.inner.pop();
                    }
                    self.inner.push((from, self.at));
                }
                self.put(Value::Object(members));
            }
        }
        None
    }

    fn put(&mut self, value: Value) {
        self.next = Next::CommaOrEnd;
        if !self.deep.is_empty() {
            return;
        }
        match self.open.last_mut() {
            Some(Open::Object { members, key, .. }) => {
                members.insert(std::mem::take(key), value);
            }
            Some(Open::Array(items)) => items.push(value),
            None => {}
        }
    }
}

/// Whether only separators of array items precede a position on its line. Indentation marks a value of another one, unless it
/// follows a bracket or a comma at the start of the line.
fn starts_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(['[', ',', ' ']);
    before.ends_with('\n') && !text[before.len()..at].starts_with(' ')
}
