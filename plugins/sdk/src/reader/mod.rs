//! Finds JSON objects in the output of a CLI. A line is not a value: a line may hold several objects, an object may span several
//! lines, and there may be text before, between and after them. The grammar, which is more tolerant than JSON's, is in
//! `object.rs`; strings and numbers are in `scalar.rs`.
//!
//! Every byte is read once for any input, and nothing is recursive: output cannot exhaust the stack.

mod object;
mod scalar;

use serde_json::Value;

use object::{Object, Step};

/// Maximum size of an object: the host's default limit of a line. A longer object is text.
pub const OBJECT_BYTES: usize = 16 * 1024 * 1024;

/// Maximum size of a piece of text. A longer line is emitted in pieces of this size.
pub const TEXT_BYTES: usize = 1024 * 1024;

/// A piece of output. All pieces together are the whole output.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<'a> {
    /// An object and its source text. The items of an array count as separate objects.
    Object(Value, &'a str),
    /// Text outside objects: a line with its line feed, or a part of a line.
    Text(&'a str),
}

/// Finds JSON objects in a text stream. How the text is split makes no difference to the result.
///
/// An incomplete object, for example of an interrupted CLI, ends where it can no longer be JSON; objects inside it that start a
/// line count then. Tolerated are lone surrogates (they become U+FFFD), control characters and unknown escapes in strings, `NaN`
/// and `Infinity` (`null`), numbers of any size, and commas before a closing bracket. Of a repeated key the last value counts.
/// Containers nested more than 120 levels deep become a string of their JSON.
#[derive(Debug, Default)]
pub struct JsonReader {
    /// Text not emitted yet: the current line, and the object that is being read.
    held: String,
    /// Number of bytes of it that were read.
    at: usize,
    /// The object that is being read, and its start.
    object: Option<(usize, Object)>,
    /// The rest of the line belongs to an overlong object.
    is_overlong: bool,
}

impl JsonReader {
    /// Reads more text, split anywhere, and emits the complete pieces.
    pub fn push(&mut self, text: &str, emit: &mut impl FnMut(Piece<'_>)) {
        let mut held = std::mem::take(&mut self.held);
        // Whole lines, the usual case, are not copied.
        if held.is_empty() {
            let emitted = self.read(text, emit);
            text[emitted..].clone_into(&mut held);
        } else {
            held.push_str(text);
            let emitted = self.read(&held, emit);
            held.drain(..emitted);
        }
        self.held = held;
    }

    /// Reads whole lines, joined by line feeds, as the framing `lines` delivers them.
    pub fn push_lines(&mut self, lines: &str, emit: &mut impl FnMut(Piece<'_>)) {
        self.push(lines, emit);
        self.push("\n", emit);
    }

    /// Emits the rest and resets the reader.
    pub fn finish(&mut self, emit: &mut impl FnMut(Piece<'_>)) {
        let Self { held, object, .. } = std::mem::take(self);
        let mut begin = 0;
        if let Some((start, object)) = object {
            begin = emit_incomplete(&held, begin, held.len(), &inner(start, &object), emit);
        }
        text(&held, begin, held.len(), emit);
    }

    /// The objects of a complete text.
    pub fn objects(text: &str) -> Vec<Value> {
        let mut objects = Vec::new();
        let mut reader = Self::default();
        let mut emit = |piece: Piece<'_>| {
            if let Piece::Object(value, _) = piece {
                objects.push(value);
            }
        };
        reader.push(text, &mut emit);
        reader.finish(&mut emit);
        objects
    }

    /// Reads on. Returns how much of the text has been emitted.
    fn read(&mut self, source: &str, emit: &mut impl FnMut(Piece<'_>)) -> usize {
        let mut begin = 0;
        while self.at < source.len() {
            let Some((start, mut object)) = self.object.take() else {
                begin = self.text(source, begin, emit);
                continue;
            };
            let end = boundary(source, start + OBJECT_BYTES);
            match object.read(&source[start..end]) {
                Step::More if end == source.len() && end - start < OBJECT_BYTES => {
                    self.at = end;
                    self.object = Some((start, object));
                }
                Step::More => {
                    self.is_overlong = true;
                    self.at = end;
                    begin = emit_incomplete(source, begin, end, &inner(start, &object), emit);
                }
                Step::Invalid(at) => {
                    self.at = start + at;
                    begin = emit_incomplete(source, begin, self.at, &inner(start, &object), emit);
                }
                Step::Complete(members, length) => {
                    text(source, begin, start, emit);
                    begin = start + length;
                    self.at = begin;
                    emit(Piece::Object(Value::Object(members), &source[start..begin]));
                }
            }
        }
        self.at -= begin;
        if let Some((start, _)) = &mut self.object {
            *start -= begin;
        }
        begin
    }

    /// Searches the next object or line end. Returns the start of the text that is held back.
    fn text(&mut self, source: &str, begin: usize, emit: &mut impl FnMut(Piece<'_>)) -> usize {
        let is_delimiter = |byte: &u8| *byte == b'\n' || (*byte == b'{' && !self.is_overlong);
        let end = boundary(source, self.at.max(begin + TEXT_BYTES));
        match source.as_bytes()[self.at..end].iter().position(is_delimiter).map(|at| self.at + at) {
            Some(at) if source.as_bytes()[at] == b'{' => {
                self.object = Some((at, Object::default()));
                self.at = at + 1;
                begin
            }
            Some(at) => {
                self.is_overlong = false;
                self.at = at + 1;
                text(source, begin, self.at, emit);
                self.at
            }
            None => {
                self.at = end;
                let is_long = end - begin >= TEXT_BYTES;
                text(source, begin, if is_long { end } else { begin }, emit);
                if is_long { end } else { begin }
            }
        }
    }
}

/// The complete objects inside an incomplete one that start a line.
fn inner(start: usize, object: &Object) -> Vec<(usize, usize)> {
    object.inner().iter().map(|(from, to)| (start + from, start + to)).collect()
}

/// Emits an incomplete object that ends at `end` as lines of text and the objects that start one. Returns the start of the text
/// that is held back, which is the start of the last line.
fn emit_incomplete(
    source: &str,
    mut begin: usize,
    end: usize,
    inner: &[(usize, usize)],
    emit: &mut impl FnMut(Piece<'_>),
) -> usize {
    for &(from, to) in inner {
        begin = lines(source, begin, from, emit);
        // It was read before, so it is valid JSON.
        if let Step::Complete(members, _) = Object::default().read(&source[from..to]) {
            text(source, begin, from, emit);
            emit(Piece::Object(Value::Object(members), &source[from..to]));
            begin = to;
        }
    }
    lines(source, begin, end, emit)
}

/// Emits the whole lines. Returns the start of the rest.
fn lines(source: &str, begin: usize, end: usize, emit: &mut impl FnMut(Piece<'_>)) -> usize {
    let mut at = begin;
    for line in source[begin..end].split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        text(source, at, at + line.len(), emit);
        at += line.len();
    }
    at
}

fn text(source: &str, mut begin: usize, end: usize, emit: &mut impl FnMut(Piece<'_>)) {
    while begin < end {
        let next = boundary(source, begin + TEXT_BYTES).min(end);
        emit(Piece::Text(&source[begin..next]));
        begin = next;
    }
}

/// The first character boundary at or after a position.
fn boundary(source: &str, mut at: usize) -> usize {
    while at < source.len() && !source.is_char_boundary(at) {
        at += 1;
    }
    at.min(source.len())
}
