//! The conversation of a request, in the forms of all surfaces: `message` reads one message, `part` a part of its content;
//! `client_text` separates what a client's program adds to it.
//!
//! Clients mix the forms, so that each surface reads all of them. A client cannot change its history: only the last message
//! must have a known form.

mod client_text;
mod media;
mod message;
mod part;

pub(crate) use message::message;

use agentbay_domain::{Block, Conversation, Media, Message, Role, Usage};

use crate::malformed::Malformed;
use crate::raw::{Kind, Raw};

/// The field of a body that has the messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// Its name.
    pub(crate) name: &'static str,
    /// Says that it is missing, and what to send.
    pub(crate) missing: &'static str,
}

/// Reads a conversation that starts with these messages.
pub(crate) fn read(first: Vec<Message>, given: Option<Raw<'_>>, field: Field) -> Result<Conversation, Malformed> {
    let given = list(given, field)?;
    let last = given.len().saturating_sub(1);
    let read = given.into_iter().enumerate().map(|(at, raw)| message(raw, at, at == last, field.name));
    let messages = first.into_iter().map(Ok).chain(read).collect::<Result<Vec<_>, Malformed>>()?;
    Conversation::try_from(messages).map_err(|error| Malformed::field(field.name, error.to_string()))
}

/// The instructions of a field of their own, as the first message of a conversation; none if there are none.
pub(crate) fn instructions(given: Option<Raw<'_>>) -> Vec<Message> {
    let mut blocks = Vec::new();
    given.into_iter().for_each(|given| message::add(given, Role::System, &mut blocks));
    let message = vec![Message { role: Role::System, blocks }];
    if characters(&message) > 0 { message } else { Vec::new() }
}

/// Estimates the tokens of messages, and of tools as they are.
pub(crate) fn tokens(messages: &[Message], tools: Option<Raw<'_>>) -> u64 {
    let tools = tools.map_or(0, |tools| tools.json().chars().count());
    Usage::estimate(characters(messages) + tools, 0).input
}

/// The characters of all texts of messages.
fn characters(messages: &[Message]) -> usize {
    let texts = messages.iter().flat_map(|message| &message.blocks).flat_map(|block| match block {
        Block::Text(text)
        | Block::Context(text)
        | Block::Unknown(text)
        | Block::Reasoning(text)
        | Block::Attachment { shown: text, .. }
        | Block::Media(Media { shown: text, .. })
        | Block::Result { text, .. } => [text.as_str(), ""],
        Block::Call { name, input, .. } => [name.as_str(), input],
    });
    texts.map(|text| text.chars().count()).sum()
}

/// Reads messages that are not to be answered. Unknown forms are accepted.
pub(crate) fn history(given: Option<Raw<'_>>, field: Field) -> Result<Vec<Message>, Malformed> {
    let given = list(given, field)?.into_iter().enumerate();
    given.map(|(at, raw)| message(raw, at, false, field.name)).collect()
}

/// The messages of a list, or a message alone.
fn list(given: Option<Raw<'_>>, field: Field) -> Result<Vec<Raw<'_>>, Malformed> {
    let refuse = || Malformed::field(field.name, field.missing);
    let given = given.ok_or_else(refuse)?;
    let given = match given.kind() {
        Kind::List => given.items().unwrap_or_default(),
        Kind::Text | Kind::Object => vec![given],
        Kind::Null | Kind::Bool | Kind::Number => return Err(refuse()),
    };
    Ok(given.into_iter().filter(|message| message.kind() != Kind::Null).collect())
}
