//! Owns the grammar of one object: what may follow what, and the values that are being built, without recursion.

use serde_json::{Map, Value};

use super::scalar;

/// How many containers may stand within one another. What is deeper is kept as a string: values are dropped, copied and
/// written recursively.
const DEPTH: usize = 120;

/// How far the reading has come.
#[derive(Debug)]
pub(super) enum Step {
    /// All was read, and more has to come.
    More,
    /// What stands at this place cannot be.
    Broken(usize),
    /// The object is whole and has so many bytes.
    Whole(Map<String, Value>, usize),
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    KeyOrEnd,
    Colon,
    Value,
    ValueOrEnd,
    CommaOrEnd,
}

/// The string or word that is being read, by where it begins.
#[derive(Clone, Copy, Debug)]
enum Token {
    String(usize),
    Word(usize),
}

/// A container that is being read.
#[derive(Debug)]
enum Open {
    Object { members: Map<String, Value>, key: String, begins_line: Option<usize> },
    Array(Vec<Value>),
}

/// An object that is being read. Places are counted from its beginning.
#[derive(Debug)]
pub(super) struct Object {
    at: usize,
    next: Next,
    token: Option<Token>,
    open: Vec<Open>,
    /// The containers below those, each with whether it is an object.
    deep: Vec<bool>,
    deep_from: usize,
    /// Where whole objects stand that begin a line.
    inner: Vec<(usize, usize)>,
}

impl Default for Object {
    /// One whose opening bracket is the next to come.
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
    /// Where the whole objects stand that begin a line, in their order, none within another.
    pub(super) fn inner(&self) -> &[(usize, usize)] {
        &self.inner
    }

    /// Reads on. `text` begins with the object, and is longer than the last time.
    pub(super) fn read(&mut self, text: &str) -> Step {
        while self.at < text.len() {
            let is_ahead = match self.token {
                Some(Token::String(from)) => self.string(text, from),
                Some(Token::Word(from)) => self.word(text, from),
                // Whether it belongs to this object, the next sign tells.
                None if self.at + 1 == text.len() && self.may_be_an_event(text) => return Step::More,
                None if self.is_an_event(text) => return Step::Broken(self.at),
                None => match self.sign(text) {
                    Ok(Some(members)) => return Step::Whole(members, self.at),
                    Ok(None) => Some(true),
                    Err(()) => None,
                },
            };
            match is_ahead {
                Some(true) => {}
                Some(false) => return Step::More,
                None => return Step::Broken(self.at),
            }
        }
        Step::More
    }

    /// Reads a string on. False: its end has not come. None: it cannot be one, for it goes over the end of its line.
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

    /// Reads a number or a name on. False: its end has not come. None: there is no such name.
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

    /// Reads one sign between strings and words. Gives the members if it ends the object.
    fn sign(&mut self, text: &str) -> Result<Option<Map<String, Value>>, ()> {
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

    /// Whether an object begins a line here.
    fn may_be_an_event(&self, text: &str) -> bool {
        let is_within = !self.open.is_empty() && matches!(self.next, Next::Value | Next::ValueOrEnd);
        is_within && text[self.at..].starts_with('{') && begins_line(text, self.at)
    }

    /// Whether an object begins a line here that is none of this one's, which broke off at the end of the line before: nobody
    /// writes the value of a key on a line of its own without indentation, nor the items of an inner list in one line each.
    fn is_an_event(&self, text: &str) -> bool {
        self.may_be_an_event(text) && (self.is_in_object() || text[self.at + 1..].starts_with(['"', '}']))
    }

    fn is_in_object(&self) -> bool {
        self.deep.last().copied().unwrap_or_else(|| matches!(self.open.last(), Some(Open::Object { .. })))
    }

    fn begin(&mut self, text: &str, is_object: bool) {
        self.next = if is_object { Next::KeyOrEnd } else { Next::ValueOrEnd };
        if self.open.len() < DEPTH {
            let begins_line = begins_line(text, self.at);
            self.open.push(if is_object {
                let begins_line = begins_line.then_some(self.at);
                Open::Object { members: Map::new(), key: String::new(), begins_line }
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

    /// The innermost container ends. Gives the members if that is the whole object.
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
            Open::Object { members, begins_line, .. } => {
                if let Some(from) = begins_line {
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

/// Whether nothing stands before a place on its line but what stands between the items of an array. Indentation is how a
/// value of another one is written, unless it follows a bracket or a comma that begins the line.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(['[', ',', ' ']);
    before.ends_with('\n') && !text[before.len()..at].starts_with(' ')
}
