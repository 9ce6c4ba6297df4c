//! Drives any CLI without a plugin of its own: proxy.toml says how. What `[models.NAME.options]` takes is in `plan.rs`,
//! what the output means in `transcript.rs`, and where the answer stands in JSON in `content.rs`.

mod content;
mod plan;
mod stream;
mod transcript;

use agentbay_plugin_sdk::{Agent, Description, Failure, Features, Framing, Plan, Turn, export_agent};

export_agent!(Generic);

/// Any CLI that takes a prompt and prints an answer.
#[derive(Debug)]
pub struct Generic;

impl Agent for Generic {
    type Transcript = transcript::GenericTranscript;

    fn describe() -> Description {
        Description {
            // No programs: the host takes the one that proxy.toml names.
            features: Features::PARTIAL,
            // One framing for all formats, so that plain text can be passed on as it comes.
            ..Description::new("generic", "Any CLI", env!("CARGO_PKG_VERSION"), Framing::Text)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
