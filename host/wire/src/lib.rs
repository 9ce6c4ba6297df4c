//! The wire formats of the API surfaces, in both directions: from the bytes of a body to a request of the domain, and from
//! domain values to the types that are serialized. No I/O, and no HTTP.
//!
//! A body is repaired by `mend` and read as `raw` JSON, which accepts what clients send rather than what a specification says;
//! what cannot be read is `malformed`.

pub mod chat;
mod malformed;
mod mend;
mod raw;

pub use malformed::Malformed;
