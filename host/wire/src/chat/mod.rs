//! The Chat Completions surface of the OpenAI API: `decode` reads a body into a request, `answer` has the types of
//! responses.

mod answer;
mod decode;

pub use answer::{
    AnswerMessage, Choice, Chunk, ChunkChoice, Completion, CompletionMeta, Delta, WireUsage, finish_reason,
};
pub use decode::{ChatRequest, StreamOptions, decode};
