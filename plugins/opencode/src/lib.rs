//! Drives opencode through `opencode run --format json`. The command line is in `plan.rs`, what the agent may do without
//! asking in `permission.rs`, the meaning of the events in `transcript.rs`, and the form of its log in `log.rs`.

mod log;
mod permission;
mod plan;
mod transcript;

use agentbay_plugin_sdk::{Agent, Description, Failure, Features, Framing, JsonLines, Plan, Probe, Turn, export_agent};

export_agent!(Opencode);

/// How to log in, as the probe and the failures say it.
const LOGIN_HINT: &str = "opencode auth login";

/// opencode.
#[derive(Debug)]
pub struct Opencode;

impl Agent for Opencode {
    type Transcript = JsonLines<transcript::Events>;

    fn describe() -> Description {
        Description {
            programs: vec!["opencode".into()],
            // Not `PARTIAL`: `run` tells each part of a message when it is whole. No `home` either: the folders it keeps
            // its login and its sessions in are moved by several variables together.
            features: Features::REASONING
                | Features::TOOLS
                | Features::RESUME
                | Features::EXTRA_DIRS
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            probe: Probe {
                version_args: vec!["--version".into()],
                tested_versions: "1.18".into(),
                install_hint: "npm install -g opencode-ai".into(),
                login_hint: LOGIN_HINT.into(),
            },
            ..Description::new("opencode", "opencode", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
