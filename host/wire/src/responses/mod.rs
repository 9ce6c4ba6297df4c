//! The Responses surface of the OpenAI API, with every key that the Open Responses schema requires: `decode` reads a body into a
//! request, whose input consists of `item`s and whose `settings` the answer repeats; `answer` has the response object, `event` the
//! events of a stream, and `list` conversations and lists of items.

mod answer;
mod decode;
mod event;
mod item;
mod list;
mod settings;
#[cfg(test)]
mod tests;

pub use answer::{ContentPart, OutputItem, Response, ResponseError, Status, SummaryPart, WireUsage};
pub use decode::{Context, ResponsesRequest, decode};
pub use event::{Body, Event};
pub use item::Item;
pub use list::{Conversation, ConversationObject, Deleted, ItemList, Page, resumed};
pub use settings::Settings;
