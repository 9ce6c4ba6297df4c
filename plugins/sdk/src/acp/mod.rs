//! The dialogue with an agent that speaks the Agent Client Protocol on its standard input and output.
//!
//! `rpc.rs` has the form of the messages, `dialogue.rs` the dialogue, `tool.rs` and `tokens.rs` what it reports of tools and tokens,
//! `permission.rs` the answers to permission requests, and `copilot.rs` the peculiarities of Copilot. `lines_or_dialogue.rs` is for
//! a CLI that also has a mode with one event a line.

mod copilot;
mod dialogue;
mod lines_or_dialogue;
mod permission;
mod rpc;
mod tokens;
mod tool;

use serde_json::json;

use crate::{Turn, Value};

pub use dialogue::Dialogue;
pub use lines_or_dialogue::LinesOrDialogue;

/// The differences between agents.
pub trait Dialect {
    /// Login instructions, as in the description's probe. If empty, the agent's own are used.
    fn login_hint() -> &'static str {
        ""
    }

    /// The prompt as content blocks of the protocol. `agent` is the name that the agent reported, or empty.
    fn blocks(agent: &str, prompt: &str) -> Value {
        let _ = agent;
        text_blocks([prompt])
    }

    /// Whether a turn needs the dialogue, for a CLI with both modes.
    fn needs_dialogue(turn: &Turn) -> bool {
        let _ = turn;
        true
    }
}

/// Content blocks of text.
pub fn text_blocks<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    texts.into_iter().map(|text| json!({ "type": "text", "text": text })).collect()
}
