//! The smallest plugin, and the template for one of your own: it drives `agentbay echo-agent`, which prints its prompt.
//! Copy it, and change what the comments point at.

use agentbay_plugin_sdk::{
    Agent, Description, Event, ExitStatus, Failure, Features, Framing, Outcome, Plan, StreamName, Transcript, Turn,
    ended, export_agent, finished,
};

// The one line that makes this crate a plugin.
export_agent!(Echo);

/// The agent. It holds nothing: what belongs to a run is in the transcript.
#[derive(Debug)]
pub struct Echo;

impl Agent for Echo {
    type Transcript = EchoTranscript;

    fn describe() -> Description {
        Description {
            // The host starts nothing that is not named here. `agentbay` always means the running program itself.
            programs: vec!["agentbay".into()],
            // Claim what is so. The host relies on it: a model with `permission = "read-only"` is refused where that is not
            // claimed. This agent changes nothing in any case.
            features: Features::PARTIAL | Features::READ_ONLY,
            // `Framing::Text`: output comes as it was printed. For JSON lines take `Framing::Lines`.
            ..Description::new("echo", "Echo", env!("CARGO_PKG_VERSION"), Framing::Text)
        }
    }

    fn prepare(_turn: &Turn) -> Result<Plan, Failure> {
        // Model, permission, directories and session of the turn go into the arguments here. The prompt does not: it is
        // written to standard input (`Transcript::begin` does it), where it may be long and nothing takes it for an option.
        Ok(Plan::new("agentbay", ["echo-agent"]))
    }
}

/// What one process said. Put here what you must remember between two calls.
#[derive(Debug)]
pub struct EchoTranscript;

impl Transcript for EchoTranscript {
    fn new(_turn: &Turn) -> Self {
        Self
    }

    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event> {
        match source {
            // Everything on standard output is the answer.
            StreamName::Stdout => vec![Event::Text(text.into())],
            // The host keeps the end of standard error for the report of a failure.
            StreamName::Stderr => Vec::new(),
        }
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        // Exit code 0 is the end of the turn; anything else a failure. A CLI that says itself that its turn is over
        // gives `Event::Done` in `output` instead, and is asked here only if it died before that.
        ended(how, "", || finished(None))
    }
}
