//! The API surfaces as they are on the wire, in both directions: from the bytes of a body to a request in the vocabulary of
//! the domain, and from there to what is written. No I/O, and no HTTP.
//!
//! A body is `mend`ed, read as `raw` JSON, which takes what clients write rather than what a specification says, and is
//! refused as `malformed`.

pub mod chat;
mod malformed;
mod mend;
mod raw;

pub use malformed::Malformed;
