//! The REST surface of the Gemini API: `error` has its errors.

mod error;

pub use error::Error;
