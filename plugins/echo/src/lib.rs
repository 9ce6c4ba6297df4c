//! The smallest plugin, and an example for your own: it drives `agentbay echo-agent`, which prints its prompt. Copy it, and change the
//! places with comments.

use agentbay_plugin_sdk::{
    Agent, Description, Event, ExitStatus, Failure, Features, Framing, Outcome, Plan, StreamName, Transcript, Turn,
    exit_outcome, export_agent, finished,
};

// Exports this crate as a plugin.
export_agent!(Echo);

/// The agent. It has no fields: the transcript holds the state of a run.
#[derive(Debug)]
pub struct Echo;

impl Agent for Echo {
    type Transcript = EchoTranscript;

    fn describe() -> Description {
        Description {
            // The host starts no other program. `agentbay` always means the running binary.
            programs: vec!["agentbay".into()],
            // Declare only what the CLI supports, since the host relies on it: it refuses a model with `permission = "read-only"` unless
            // this is declared. This agent never changes anything.
            features: Features::PARTIAL | Features::READ_ONLY,
            // `Framing::Text` delivers output as printed. For JSON lines use `Framing::Lines`.
            ..Description::new("echo", "Echo", env!("CARGO_PKG_VERSION"), Framing::Text)
        }
    }

    fn prepare(_turn: &Turn) -> Result<Plan, Failure> {
        // The turn's model, permission, directories and session become arguments here. The prompt does not: `Transcript::begin` writes it
        // to standard input, where it may be long and is never taken for an option.
        Ok(Plan::new("agentbay", ["echo-agent"]))
    }
}

/// The state of one process. Add the fields that you need between two calls.
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
            // The host keeps the tail of standard error for failures.
            StreamName::Stderr => Vec::new(),
        }
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        // Exit code 0 is the end of the turn; anything else is a failure. For a CLI that reports the end of its turn, return
        // `Event::Done` from `output`; this function then decides only if the process died before.
        exit_outcome(how, "", || finished(None))
    }
}
