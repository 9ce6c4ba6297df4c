//! The Chat Completions surface of the OpenAI API: `decode` makes a request of a body, a `message` and a `part` at a time;
//! `answer` is what is written.

mod answer;
mod choice;
mod decode;
mod message;
mod part;

pub use answer::{AnswerMessage, Choice, Chunk, ChunkChoice, Completion, Delta, Heading, WireUsage, finish_reason};
pub use decode::{ChatRequest, StreamOptions, decode};
