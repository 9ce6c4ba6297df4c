//! Drives Grok through `ax-grok --prompt`. `ax-glm` and `ax-grok` are builds of one program, so the command line and the
//! meaning of the output are in the SDK, which says what is peculiar about them.

use agentbay_plugin_sdk::{
    Agent, Description, Failure, Features, Framing, JsonLines, Plan, Probe, Turn, export_agent,
    roles::{self, RoleCli, Roles},
};

export_agent!(Grok);

const PROGRAM: &str = "ax-grok";

/// How to log in, as the probe and the failures say it.
const LOGIN_HINT: &str = "set XAI_API_KEY, or run `ax-grok setup`";

/// Grok by `ax-grok`.
#[derive(Debug)]
pub struct Grok;

impl Agent for Grok {
    type Transcript = JsonLines<Roles<Self>>;

    fn describe() -> Description {
        Description {
            programs: vec![PROGRAM.into()],
            // Not `RESUME`: it continues the last session of a folder, but none by its id. Not `READ_ONLY`: without a
            // terminal it does whatever the model wants.
            features: Features::TOOLS | Features::MODEL_CHOICE,
            probe: Probe {
                version_args: vec!["--version".into()],
                // None was to be had. grok-cli 0.0.34, which it comes from, was.
                tested_versions: String::new(),
                install_hint: "npm install -g @defai.digital/ax-grok (needs Node.js 24)".into(),
                login_hint: LOGIN_HINT.into(),
            },
            ..Description::new("grok", "Grok", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        roles::prepare(PROGRAM, turn)
    }
}

impl RoleCli for Grok {
    const NAME: &'static str = "Grok";
    const LOGIN_HINT: &'static str = LOGIN_HINT;
}
