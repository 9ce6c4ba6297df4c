//! Drives opencode through `opencode run --format json`. `plan.rs` has the command line, `permission.rs` the permission rules,
//! `transcript.rs` the meaning of the events, `log.rs` the format of its log.

mod log;
mod permission;
mod plan;
mod transcript;

use agentbay_plugin_sdk::{Agent, Description, Failure, Features, Framing, JsonLines, Plan, Probe, Turn, export_agent};

export_agent!(Opencode);

/// Login instructions for the probe and for failures.
const LOGIN_HINT: &str = "opencode auth login";

/// opencode.
#[derive(Debug)]
pub struct Opencode;

impl Agent for Opencode {
    type Transcript = JsonLines<transcript::Events>;

    fn describe() -> Description {
        Description {
            programs: vec!["opencode".into()],
            // Not `PARTIAL`: `run` prints each part of a message when it is complete. No `home` either: several variables together move the
            // folders of its login and its sessions.
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
