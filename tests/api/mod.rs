//! The API as its clients meet it: requests in, answers and streams out, who is refused how.

mod chat;
pub(crate) mod connections;
pub(crate) mod errors;
mod histories;
mod history;
pub(crate) mod openai_client;
mod repeats;
mod session;
pub(crate) mod stream;
mod wire;
