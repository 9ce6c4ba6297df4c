//! Owns the finding of JSON objects in what a CLI prints. A line is not a value: several objects may stand on one line, one
//! may go over several lines, and text may stand before, between and behind them. The grammar, which is more tolerant than
//! JSON's, is in `object.rs`, that of strings and numbers in `scalar.rs`.
//!
//! Every byte is looked at once, whatever comes, and nothing is recursive: what a CLI prints cannot exhaust the stack.

mod object;
mod scalar;

use serde_json::Value;

use object::{Object, Step};

/// How many bytes an object may have: what the host lets through as one line by default. A longer one is text.
pub const OBJECT_BYTES: usize = 16 * 1024 * 1024;

/// How many bytes of a line of text are held back until it ends. A longer one is given in pieces of this size.
pub const TEXT_BYTES: usize = 1024 * 1024;

/// A piece of what a CLI prints. Put together, the pieces are what it printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<'a> {
    /// An object, and the text that it was read from. The items of an array count as objects of their own.
    Object(Value, &'a str),
    /// Text that belongs to no object: a line with its line feed, or a part of one.
    Text(&'a str),
}

/// Finds JSON objects in text that comes in pieces. How it is cut makes no difference to what is found.
///
/// An object that is not whole, because the CLI was interrupted within it, ends where it can no longer be JSON; objects that
/// begin a line within it count then. Tolerated are lone surrogates (they become U+FFFD), control characters and unknown
/// escapes in strings, `NaN` and `Infinity` (`null`), numbers of any size, commas before a closing bracket. Of a key that
/// comes twice the last one counts. Containers more than 120 levels deep are given as a string of their JSON.
#[derive(Debug, Default)]
pub struct JsonReader {
    /// What is not given yet: the line so far, and the object that is being read.
    held: String,
    /// How much of it was looked at.
    at: usize,
    /// The object that is being read, and where it begins.
    object: Option<(usize, Object)>,
    /// The rest of the line belongs to an object that is too long.
    is_overlong: bool,
}

impl JsonReader {
    /// Takes more text, cut anywhere, and gives the pieces that are complete.
    pub fn push(&mut self, text: &str, hear: &mut impl FnMut(Piece<'_>)) {
        let mut held = std::mem::take(&mut self.held);
        // Whole lines, which is what there is almost always, are not copied.
        if held.is_empty() {
            let given = self.read(text, hear);
            text[given..].clone_into(&mut held);
        } else {
            held.push_str(text);
            let given = self.read(&held, hear);
            held.drain(..given);
        }
        self.held = held;
    }

    /// Takes whole lines, joined by line feeds, as the framing `lines` gives them.
    pub fn push_lines(&mut self, lines: &str, hear: &mut impl FnMut(Piece<'_>)) {
        self.push(lines, hear);
        self.push("\n", hear);
    }

    /// Gives what is left at the end, and begins again.
    pub fn finish(&mut self, hear: &mut impl FnMut(Piece<'_>)) {
        let Self { held, object, .. } = std::mem::take(self);
        let mut begin = 0;
        if let Some((start, object)) = object {
            begin = give_up(&held, begin, held.len(), &inner(start, &object), hear);
        }
        text(&held, begin, held.len(), hear);
    }

    /// The objects of a text that is complete.
    pub fn objects(text: &str) -> Vec<Value> {
        let mut objects = Vec::new();
        let mut reader = Self::default();
        let mut hear = |piece: Piece<'_>| {
            if let Piece::Object(value, _) = piece {
                objects.push(value);
            }
        };
        reader.push(text, &mut hear);
        reader.finish(&mut hear);
        objects
    }

    /// Reads on, and says how much of the text has been given.
    fn read(&mut self, source: &str, hear: &mut impl FnMut(Piece<'_>)) -> usize {
        let mut begin = 0;
        while self.at < source.len() {
            let Some((start, mut object)) = self.object.take() else {
                begin = self.text(source, begin, hear);
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
                    begin = give_up(source, begin, end, &inner(start, &object), hear);
                }
                Step::Broken(at) => {
                    self.at = start + at;
                    begin = give_up(source, begin, self.at, &inner(start, &object), hear);
                }
                Step::Whole(members, length) => {
                    text(source, begin, start, hear);
                    begin = start + length;
                    self.at = begin;
                    hear(Piece::Object(Value::Object(members), &source[start..begin]));
                }
            }
        }
        self.at -= begin;
        if let Some((start, _)) = &mut self.object {
            *start -= begin;
        }
        begin
    }

    /// Looks for the next object or line end, and says from where on text is held.
    fn text(&mut self, source: &str, begin: usize, hear: &mut impl FnMut(Piece<'_>)) -> usize {
        let sign = |byte: &u8| *byte == b'\n' || (*byte == b'{' && !self.is_overlong);
        let end = boundary(source, self.at.max(begin + TEXT_BYTES));
        match source.as_bytes()[self.at..end].iter().position(sign).map(|at| self.at + at) {
            Some(at) if source.as_bytes()[at] == b'{' => {
                self.object = Some((at, Object::default()));
                self.at = at + 1;
                begin
            }
            Some(at) => {
                self.is_overlong = false;
                self.at = at + 1;
                text(source, begin, self.at, hear);
                self.at
            }
            None => {
                self.at = end;
                let is_long = end - begin >= TEXT_BYTES;
                text(source, begin, if is_long { end } else { begin }, hear);
                if is_long { end } else { begin }
            }
        }
    }
}

/// Where the whole objects stand that begin a line within one that is not whole.
fn inner(start: usize, object: &Object) -> Vec<(usize, usize)> {
    object.inner().iter().map(|(from, to)| (start + from, start + to)).collect()
}

/// Gives up an object that ends at a place: what is in it are lines of text, and the objects that begin one. Says from where
/// on text is held: from the beginning of the last line.
fn give_up(
    source: &str,
    mut begin: usize,
    end: usize,
    inner: &[(usize, usize)],
    hear: &mut impl FnMut(Piece<'_>),
) -> usize {
    for &(from, to) in inner {
        begin = lines(source, begin, from, hear);
        // It was read before: there is nothing in it that is not JSON.
        if let Step::Whole(members, _) = Object::default().read(&source[from..to]) {
            text(source, begin, from, hear);
            hear(Piece::Object(Value::Object(members), &source[from..to]));
            begin = to;
        }
    }
    lines(source, begin, end, hear)
}

/// Gives the whole lines, and says where the rest begins.
fn lines(source: &str, begin: usize, end: usize, hear: &mut impl FnMut(Piece<'_>)) -> usize {
    let mut at = begin;
    for line in source[begin..end].split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        text(source, at, at + line.len(), hear);
        at += line.len();
    }
    at
}

fn text(source: &str, mut begin: usize, end: usize, hear: &mut impl FnMut(Piece<'_>)) {
    while begin < end {
        let next = boundary(source, begin + TEXT_BYTES).min(end);
        hear(Piece::Text(&source[begin..next]));
        begin = next;
    }
}

/// The place, or the first one behind it at which a character begins.
fn boundary(source: &str, mut at: usize) -> usize {
    while at < source.len() && !source.is_char_boundary(at) {
        at += 1;
    }
    at.min(source.len())
}
