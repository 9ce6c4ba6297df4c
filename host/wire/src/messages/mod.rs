//! The Messages surface of the Anthropic API: `error` has its errors.

mod error;

pub use error::{Error, ErrorDetail, error_type};
