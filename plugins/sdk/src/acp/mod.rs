//! Reads and leads the dialogue with an agent that speaks the Agent Client Protocol on its standard input and output.
//!
//! The messages' form is in `rpc.rs`, the dialogue in `dialogue.rs`, what it tells of tools in `tool.rs` and of tokens in
//! `tokens.rs`, the answers to its questions in `permission.rs`, and what is peculiar about Copilot in `asides.rs`. A CLI that
//! has this beside a mode with one event a line is in `either_way.rs`.

mod asides;
mod dialogue;
mod either_way;
mod permission;
mod rpc;
mod tokens;
mod tool;

use serde_json::json;

use crate::{Turn, Value};

pub use dialogue::Dialogue;
pub use either_way::EitherWay;

/// What is one agent's own in the dialogue.
pub trait Dialect {
    /// How to log in, as in the description's probe. Empty: what the agent itself says.
    fn login_hint() -> &'static str {
        ""
    }

    /// The prompt as content blocks of the protocol. `agent` is the name by which the agent called itself, empty if by none.
    fn blocks(agent: &str, prompt: &str) -> Value {
        let _ = agent;
        text_blocks([prompt])
    }

    /// Whether a turn needs the dialogue, for a CLI that has another mode too.
    fn needs_dialogue(turn: &Turn) -> bool {
        let _ = turn;
        true
    }
}

/// Content blocks of text.
pub fn text_blocks<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    texts.into_iter().map(|text| json!({ "type": "text", "text": text })).collect()
}
