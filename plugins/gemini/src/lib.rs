//! Drives Gemini CLI through `--output-format stream-json`. `plan.rs` has the command line, `transcript.rs` the meaning of the events,
//! `attempts.rs` that of its retry messages.

mod attempts;
mod plan;
mod transcript;

use agentbay_plugin_sdk::{Agent, Description, Failure, Features, Framing, JsonLines, Plan, Probe, Turn, export_agent};

export_agent!(Gemini);

const LOGIN_HINT: &str = "run `gemini` once and choose how to log in, or set GEMINI_API_KEY";

/// Gemini CLI.
#[derive(Debug)]
pub struct Gemini;

impl Agent for Gemini {
    type Transcript = JsonLines<transcript::Events>;

    fn describe() -> Description {
        Description {
            programs: vec!["gemini".into()],
            features: Features::PARTIAL
                | Features::TOOLS
                | Features::RESUME
                | Features::EXTRA_DIRS
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            probe: Probe {
                version_args: vec!["--version".into()],
                tested_versions: "0.61".into(),
                install_hint: "npm install -g @google/gemini-cli".into(),
                login_hint: LOGIN_HINT.into(),
            },
            ..Description::new("gemini", "Gemini CLI", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
