//! Drives OpenAI Codex through `codex exec --json`. `plan.rs` has the command line, `transcript.rs` the meaning of the events.

mod plan;
mod tool;
mod transcript;

use agentbay_plugin_sdk::{
    Agent, Description, Failure, Features, Framing, Home, JsonLines, Plan, Probe, Turn, export_agent,
};

export_agent!(Codex);

const LOGIN_HINT: &str = "codex login";

/// OpenAI Codex.
#[derive(Debug)]
pub struct Codex;

impl Agent for Codex {
    type Transcript = JsonLines<transcript::Events>;

    fn describe() -> Description {
        Description {
            programs: vec!["codex".into()],
            // Not `PARTIAL`: `exec --json` prints whole messages only.
            features: Features::REASONING
                | Features::TOOLS
                | Features::RESUME
                | Features::OUTPUT_SCHEMA
                | Features::EXTRA_DIRS
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            probe: Probe {
                version_args: vec!["--version".into()],
                tested_versions: "0.171".into(),
                install_hint: "npm install -g @openai/codex".into(),
                login_hint: LOGIN_HINT.into(),
            },
            home: Some(Home { env: "CODEX_HOME".into(), keep: vec!["auth.json".into(), "config.toml".into()] }),
            ..Description::new("codex", "OpenAI Codex", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
