//! Drives any CLI without a plugin of its own: proxy.toml says how. What `[models.NAME.options]` takes is in `options.rs`, the
//! command line in `plan.rs`, and what the output means in `transcript.rs`: for plain text `sections.rs`, for JSON `stream.rs`
//! and `reading.rs`.

mod content;
mod fault;
mod options;
mod pattern;
mod plan;
mod reading;
mod rule;
mod sections;
mod seen;
mod stream;
mod transcript;
mod usage;

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
            // All that options can bring: `prepare` refuses what those of a model do not.
            features: Features::PARTIAL
                | Features::REASONING
                | Features::RESUME
                | Features::OUTPUT_SCHEMA
                | Features::EXTRA_DIRS
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            // One framing for all formats, so that plain text can be passed on as it comes.
            ..Description::new("generic", "Any CLI", env!("CARGO_PKG_VERSION"), Framing::Text)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
