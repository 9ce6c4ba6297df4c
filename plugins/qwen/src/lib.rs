//! Drives Qwen Code through `--output-format stream-json`, and through `--acp` for prompts that would not arrive unchanged otherwise.
//! `plan.rs` has the command line, `transcript.rs` the meaning of the events.

mod plan;
mod transcript;

use agentbay_plugin_sdk::acp::LinesOrDialogue;
use agentbay_plugin_sdk::{Agent, Description, Failure, Features, Framing, Plan, Probe, Turn, export_agent};

export_agent!(Qwen);

const LOGIN_HINT: &str = "run `qwen` once and choose how to log in";

/// Qwen Code.
#[derive(Debug)]
pub struct Qwen;

impl Agent for Qwen {
    type Transcript = LinesOrDialogue<transcript::Events>;

    fn describe() -> Description {
        Description {
            programs: vec!["qwen".into()],
            features: Features::PARTIAL
                | Features::REASONING
                | Features::TOOLS
                | Features::RESUME
                | Features::OUTPUT_SCHEMA
                | Features::EXTRA_DIRS
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            probe: Probe {
                version_args: vec!["--version".into()],
                tested_versions: "0.15, 0.24".into(),
                install_hint: "npm install -g @qwen-code/qwen-code (needs Node.js 22)".into(),
                login_hint: LOGIN_HINT.into(),
            },
            ..Description::new("qwen", "Qwen Code", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
