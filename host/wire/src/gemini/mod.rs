//! The REST surface of the Gemini API: `method` has the methods of a model, `decode` reads a body into a request, `schema`
//! translates its schema, `answer` has the types of responses, `models` those of models, `error` its errors.

mod answer;
mod decode;
mod error;
mod method;
mod models;
mod schema;
#[cfg(test)]
mod tests;

pub use answer::{AnswerMeta, GenerateResponse, Part, TokenCount, UsageMetadata};
pub use decode::{GenerateRequest, count_tokens, decode};
pub use error::{Cause, Error};
pub use method::Method;
pub use models::{ModelEntry, ModelList};
