//! The Messages surface of the Anthropic API: `decode` reads a body into a request, `count` one whose tokens are to be counted;
//! `question` is what it asks; `answer` has the whole message, `event` the events of a stream, `error` the errors.

mod answer;
mod count;
mod decode;
mod error;
mod event;
mod question;
#[cfg(test)]
mod tests;

pub use answer::{Call, Content, Message, MessageMeta, Stop, WireUsage};
pub use count::{CountRequest, TokenCount, decode_count};
pub use decode::{MessagesRequest, decode};
pub use error::{Error, ErrorDetail, error_type};
pub use event::{Delta, Event};
pub use question::Question;
