//! The Chat Completions surface of the OpenAI API: `decode` reads a body into a request, `answer` has the types of
//! responses.

mod answer;
mod decode;
#[cfg(test)]
mod tests;

pub use answer::{
    AnswerMessage, Choice, Chunk, ChunkChoice, Completion, CompletionMeta, Delta, WireUsage, finish_reason,
};
pub use decode::{CallForm, ChatRequest, ForcedCall, StreamOptions, decode};
