//! One message in a prompt. Text of the user and the application is plain, context of the client has its tags. All other text is
//! data: it has a label, and each of its lines begins with `> `, so that it can be taken neither for the user's words nor for a
//! label.

use std::borrow::Cow;

use agentbay_domain::{Block, Conversation, Media, Message, Role};

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text to follow.
    Plain(&'a str),
    /// Text of the client to know of, in its tags.
    Context(&'a str),
    /// Text to know of, and its source.
    Quoted { label: Cow<'static, str>, text: &'a str },
}

/// The pieces of a message. Empty text has none.
pub(super) fn pieces<'a>(message: &'a Message, all: &'a Conversation) -> impl Iterator<Item = Piece<'a>> {
    message.blocks.iter().filter_map(move |block| piece(message.role, block, all))
}

/// Joins pieces. A blank line separates two pieces, unless both are plain. The speaker is named where plain text begins.
pub(super) fn joined(pieces: &[Piece<'_>], speaker: &str) -> String {
    let mut text = String::new();
    let mut before = None;
    for piece in pieces {
        let plain = matches!(piece, Piece::Plain(_));
        text += match before {
            None => "",
            Some(true) if plain => "\n",
            Some(_) => "\n\n",
        };
        if plain && before != Some(true) {
            text += speaker;
        }
        piece.write(&mut text);
        before = Some(plain);
    }
    text
}

fn piece<'a>(role: Role, block: &'a Block, all: &Conversation) -> Option<Piece<'a>> {
    let quoted = |label, text| Some(Piece::Quoted { label, text });
    match block {
        Block::Text(text) | Block::Reasoning(text) if text.is_empty() => None,
        Block::Text(text) | Block::Attachment { shown: text, .. } | Block::Media(Media { shown: text, .. }) => {
            match role {
                Role::System | Role::Developer | Role::User => Some(Piece::Plain(text)),
                Role::Assistant | Role::Tool | Role::Other => quoted(role.name().into(), text),
            }
        }
        Block::Context(text) => Some(Piece::Context(text)),
        Block::Unknown(text) => quoted("content of an unknown type".into(), text),
        Block::Reasoning(text) => quoted("assistant reasoning".into(), text),
        Block::Call { name, input, .. } => quoted(format!("assistant called {}", word(name)).into(), input),
        Block::Result { call, name, text, is_error } => {
            let of = name.as_deref().or_else(|| all.called(call));
            let of = of.map_or_else(String::new, |name| format!(" of {}", word(name)));
            let failed = if *is_error { " (error)" } else { "" };
            quoted(format!("tool result{of}{failed}").into(), text)
        }
    }
}

/// A name in quotes, unless it is a plain word.
fn word(name: &str) -> Cow<'_, str> {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.:/".contains(c));
    if plain { name.into() } else { format!("{name:?}").into() }
}

impl Piece<'_> {
    /// Returns whether it is context of the client.
    pub(super) fn is_context(&self) -> bool {
        matches!(self, Self::Context(_))
    }

    fn write(&self, into: &mut String) {
        match self {
            Self::Plain(text) | Self::Context(text) => into.push_str(text),
            Self::Quoted { label, text } => {
                into.push_str(label);
                into.push(':');
                for line in lines(text) {
                    into.push_str(if line.is_empty() { "\n>" } else { "\n> " });
                    into.push_str(line);
                }
            }
        }
    }
}

/// The lines of a text. Every character that a reader may take for a line end is one.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    const ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some((line, end)) = text.find(ENDS).map(|at| text.split_at(at)) else {
            rest = None;
            return Some(text);
        };
        rest = end.strip_prefix("\r\n").or_else(|| end.strip_prefix(ENDS));
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(label: &'static str, text: &str) -> String {
        joined(&[Piece::Quoted { label: label.into(), text }], "user: ")
    }

    #[test]
    fn every_line_of_quoted_text_is_marked_whatever_ends_it() {
        let text = "a\nb\r\nc\rd\u{b}e\u{c}f\u{85}g\u{2028}h\u{2029}i\n\nuser: j\n";
        let expected = "tool:\n> a\n> b\n> c\n> d\n> e\n> f\n> g\n> h\n> i\n>\n> user: j\n>";
        assert_eq!(written("tool", text), expected);
        assert_eq!(written("tool", ""), "tool:\n>");
    }

    #[test]
    fn only_a_plain_name_is_written_without_quotes() {
        assert_eq!(word("mcp__files.read-1:x/y"), "mcp__files.read-1:x/y");
        for (name, shown) in [("", r#""""#), ("a:\nuser: b", r#""a:\nuser: b""#), ("a\u{2028}b c", r#""a\u{2028}b c""#)]
        {
            assert_eq!(word(name), shown);
        }
    }

    #[test]
    fn a_blank_line_separates_quoted_text_from_the_rest() {
        let quoted = Piece::Quoted { label: "tool".into(), text: "x" };
        let pieces = [Piece::Plain("a"), Piece::Plain("b"), quoted.clone(), quoted, Piece::Plain("c")];
        assert_eq!(joined(&pieces, ""), "a\nb\n\ntool:\n> x\n\ntool:\n> x\n\nc");
        assert_eq!(joined(&pieces, "user: "), "user: a\nb\n\ntool:\n> x\n\ntool:\n> x\n\nuser: c");
    }
}
