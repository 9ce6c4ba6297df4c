//! The API from the view of its clients: requests, answers, streams, refusals.

mod anthropic_client;
mod ask;
mod attachments;
mod chat;
mod chores;
pub(crate) mod connections;
pub(crate) mod errors;
mod gemini;
mod gemini_client;
mod histories;
mod history;
mod messages;
mod models;
pub(crate) mod openai_client;
mod openai_responses_client;
mod recordings;
mod repeats;
mod responses;
mod session;
mod show;
mod stored_responses;
pub(crate) mod stream;
mod wire;
