//! Drives GitHub Copilot CLI through `copilot --output-format json`. `plan.rs` has the command line, `transcript.rs` the meaning of
//! the events.

mod plan;
mod transcript;

use agentbay_plugin_sdk::{
    Agent, Description, Failure, Features, Framing, Home, JsonLines, Plan, Probe, Turn, export_agent,
};

export_agent!(Copilot);

/// Login instructions for the probe and for failures.
const LOGIN_HINT: &str = "copilot login";

/// GitHub Copilot CLI.
#[derive(Debug)]
pub struct Copilot;

impl Agent for Copilot {
    type Transcript = JsonLines<transcript::Events>;

    fn describe() -> Description {
        Description {
            programs: vec!["copilot".into()],
            features: Features::PARTIAL
                | Features::REASONING
                | Features::TOOLS
                | Features::RESUME
                | Features::EXTRA_DIRS
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            probe: Probe {
                version_args: vec!["--version".into()],
                tested_versions: "1.0".into(),
                install_hint: "npm install -g @github/copilot".into(),
                login_hint: LOGIN_HINT.into(),
            },
            home: Some(Home { env: "COPILOT_HOME".into(), keep: vec!["config.json".into(), "mcp-config.json".into()] }),
            ..Description::new("copilot", "GitHub Copilot", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
