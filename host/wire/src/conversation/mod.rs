//! The conversation of a request, in the forms of all surfaces: `message` reads one message, `part` a part of its content.
//!
//! Clients mix the forms, so that each surface reads all of them. A client cannot change its history: only the last message
//! must have a known form.

mod message;
mod part;

use agentbay_domain::{Conversation, Message};

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
    let refuse = || Malformed::field(field.name, field.missing);
    let given = given.ok_or_else(refuse)?;
    let given: Vec<Raw<'_>> = match given.kind() {
        Kind::List => given.items().unwrap_or_default(),
        Kind::Text | Kind::Object => vec![given],
        Kind::Null | Kind::Bool | Kind::Number => return Err(refuse()),
    };
    let given: Vec<Raw<'_>> = given.into_iter().filter(|message| message.kind() != Kind::Null).collect();
    let last = given.len().saturating_sub(1);
    let read = given.into_iter().enumerate().map(|(at, raw)| message::message(raw, at, at == last, field.name));
    let messages = first.into_iter().map(Ok).chain(read).collect::<Result<Vec<_>, Malformed>>()?;
    Conversation::try_from(messages).map_err(|error| Malformed::field(field.name, error.to_string()))
}
