//! Drives any CLI without its own plugin: proxy.toml describes it. `options.rs` reads `[models.NAME.options]`, `plan.rs` builds the
//! command line, and `transcript.rs` reads the output: plain text with `sections.rs`, JSON with `stream.rs` and `reading.rs`.

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
            // No programs: proxy.toml names one.
            // Everything that options can enable: `prepare` refuses what a model's options do not.
            features: Features::PARTIAL
                | Features::REASONING
                | Features::RESUME
                | Features::OUTPUT_SCHEMA
                | Features::EXTRA_DIRS
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            // One framing for all formats, so that plain text can be passed on as it arrives.
            ..Description::new("generic", "Any CLI", env!("CARGO_PKG_VERSION"), Framing::Text)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
