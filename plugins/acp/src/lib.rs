//! Drives any agent that speaks the Agent Client Protocol on its standard input and output: Gemini CLI, Qwen Code, opencode,
//! Copilot, Goose, Kimi and others. proxy.toml names the program. Tested with Copilot 1.0.102, Gemini CLI 0.61, opencode 1.18 and
//! Qwen Code 0.24.
//!
//! `plan.rs` has the options and the command line, `dialect.rs` the form of prompts. The dialogue is the SDK's.

mod dialect;
mod plan;

use agentbay_plugin_sdk::acp::Dialogue;
use agentbay_plugin_sdk::{Agent, Description, Failure, Features, Framing, Plan, Probe, Turn, export_agent};

export_agent!(Acp);

/// Any agent that speaks the Agent Client Protocol.
#[derive(Debug)]
pub struct Acp;

impl Agent for Acp {
    type Transcript = Dialogue<dialect::Any>;

    fn describe() -> Description {
        Description {
            // No programs: proxy.toml names one. Not `READ_ONLY`: the agent decides what it does without asking, and only its permission
            // requests can be refused. Not `MODEL_CHOICE`: see `plan.rs`.
            features: Features::PARTIAL
                | Features::REASONING
                | Features::TOOLS
                | Features::RESUME
                | Features::EXTRA_DIRS,
            probe: Probe {
                version_args: vec!["--version".into()],
                // The agent, and so the meaning of its version, is unknown here.
                tested_versions: String::new(),
                install_hint: "set `program` of the model to an agent, and `options.args` to what makes it speak the \
                               Agent Client Protocol, for example `acp` or `--acp`"
                    .into(),
                login_hint: "log in with the agent's own command".into(),
            },
            ..Description::new("acp", "Agent Client Protocol", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        plan::prepare(turn)
    }
}
