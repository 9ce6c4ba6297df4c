//! The wire formats of the API surfaces, in both directions: from the bytes of a body to a request of the domain, and from
//! domain values to the types that are serialized. No I/O, and no HTTP.
//!
//! `body` reads what the requests of all surfaces have, `conversation` their messages; `chore` knows those that no user asked
//! for; `models` has the list that surfaces
//! share. A body is repaired by `mend` and read as `raw` JSON, which accepts what clients send rather than what a specification
//! says; what cannot be read is `malformed`.

mod answer_format;
mod body;
pub mod chat;
pub mod chore;
mod conversation;
mod forced_tool;
pub mod gemini;
mod ignored;
mod malformed;
mod mend;
pub mod messages;
pub mod models;
mod raw;
#[cfg(test)]
mod recordings;
pub mod responses;
mod tokens;
mod tool_choice;

pub use malformed::Malformed;
