//! Drives Claude Code through `claude -p` with `stream-json` in both directions. `plan.rs` has the command line, `transcript.rs` the
//! meaning of the events.

mod plan;
mod transcript;

use agentbay_plugin_sdk::{
    Agent, Description, Failure, Features, Framing, Home, JsonLines, Plan, Probe, Turn, export_agent,
};

export_agent!(Claude);

const LOGIN_HINT: &str = "run `claude` once and type /login, or set ANTHROPIC_API_KEY";

/// Claude Code.
#[derive(Debug)]
pub struct Claude;

impl Agent for Claude {
    type Transcript = JsonLines<transcript::Events>;

    fn describe() -> Description {
        Description {
            programs: vec!["claude".into()],
            features: Features::PARTIAL
                | Features::REASONING
                | Features::TOOLS
                | Features::RESUME
                | Features::SYSTEM_PROMPT
                | Features::OUTPUT_SCHEMA
                | Features::EXTRA_DIRS
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            probe: Probe {
                version_args: vec!["--version".into()],
                tested_versions: "2.1".into(),
                install_hint: "npm install -g @anthropic-ai/claude-code".into(),
                login_hint: LOGIN_HINT.into(),
            },
            home: Some(Home {
                env: "CLAUDE_CONFIG_DIR".into(),
                keep: vec![".credentials.json".into(), ".claude.json".into(), "settings.json".into()],
            }),
            ..Description::new("claude", "Claude Code", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
