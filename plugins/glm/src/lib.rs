//! Drives GLM through `ax-glm --prompt`. `ax-glm` and `ax-grok` are builds of one program, so the SDK has the command line, the meaning
//! of the output and the program's peculiarities.

use agentbay_plugin_sdk::{
    Agent, Description, Failure, Features, Framing, JsonLines, Plan, Probe, Turn, export_agent,
    roles::{self, RoleCli, Roles},
};

export_agent!(Glm);

const PROGRAM: &str = "ax-glm";

/// Login instructions for the probe and for failures.
const LOGIN_HINT: &str = "set ZAI_API_KEY, or run `ax-glm setup`";

/// GLM through `ax-glm`.
#[derive(Debug)]
pub struct Glm;

impl Agent for Glm {
    type Transcript = JsonLines<Roles<Self>>;

    fn describe() -> Description {
        Description {
            programs: vec![PROGRAM.into()],
            // Not `RESUME`: it can only continue the last session of a folder. Not `READ_ONLY`: without a terminal it does all that the
            // model asks for.
            features: Features::TOOLS | Features::MODEL_CHOICE,
            probe: Probe {
                version_args: vec!["--version".into()],
                // No build was available. grok-cli 0.0.34, from which it derives, was tested.
                tested_versions: String::new(),
                install_hint: "npm install -g @defai.digital/ax-glm (needs Node.js 24)".into(),
                login_hint: LOGIN_HINT.into(),
            },
            ..Description::new("glm", "GLM", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        roles::prepare(PROGRAM, turn)
    }
}

impl RoleCli for Glm {
    const NAME: &'static str = "GLM";
    const LOGIN_HINT: &'static str = LOGIN_HINT;
}
