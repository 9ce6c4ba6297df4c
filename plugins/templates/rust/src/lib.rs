//! The plugin: how {{name}}-cli is started, and what its output means. It has no access to the machine: text goes in,
//! values come out. wit/agent.wit defines the values, and sdk/src/lib.rs lists the rest of the SDK.
//!
//! Change the places with comments, and keep four rules: text of the answer is returned once, even if the CLI repeats it; the
//! grouping of the output into calls makes no difference; unknown output is skipped; nothing panics.

use agentbay_plugin_sdk::{
    Agent, Category, Description, Event, Failure, Features, Framing, JsonLines, Outcome, Permission, Plan, Protocol,
    RetryHint, ToolCall, ToolResult, Turn, Usage, UsageScope, Value, classify, export_agent, finished, json,
};

const PROGRAM: &str = "{{name}}-cli";

// Exports this crate as a plugin.
export_agent!(Cli);

/// What the CLI is, and how it is started.
#[derive(Debug)]
pub struct Cli;

impl Agent for Cli {
    // For a CLI that prints one JSON event a line. For any other, implement `Transcript`.
    type Transcript = JsonLines<Events>;

    fn describe() -> Description {
        Description {
            // The host starts no other program.
            programs: vec![PROGRAM.into()],
            // Declare only what the CLI supports: the host relies on it.
            features: Features::PARTIAL
                | Features::TOOLS
                | Features::RESUME
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            // The id is `driver` in proxy.toml. `Framing::Text` delivers output as printed.
            ..Description::new("{{name}}", "{{name}}", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    // The command line does not contain the prompt, which is written to standard input (`Protocol::input`). Choose flags with
    // which the CLI never waits for a person.
    fn prepare(turn: &Turn) -> Result<Plan, Failure> {
        let mut plan = Plan::new(PROGRAM, []);
        if let Some(model) = &turn.model {
            plan = plan.option("--model", model)?;
        }
        if let Some(session) = &turn.session {
            plan = plan.option("--resume", session)?;
        }
        if turn.permission == Permission::ReadOnly {
            plan = plan.arg("--read-only");
        }
        Ok(plan)
    }
}

/// The state of one process. Add the fields that you need between two lines.
#[derive(Debug)]
pub struct Events {
    /// The last error event.
    error: Option<Failure>,
}

impl Protocol for Events {
    const NAME: &'static str = PROGRAM;

    fn new(_turn: &Turn) -> Self {
        Self { error: None }
    }

    // Reads one line. Add the events of your CLI here.
    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        let text = |name: &str| json::text(event, &[name]).unwrap_or_default().to_owned();
        match json::text(event, &["type"]) {
            Some("session") => events.push(Event::Session(text("id"))),
            Some("text") => events.push(Event::Text(text("text"))),
            Some("tool") => {
                let input = json::at(event, &["input"]).map_or_else(|| "{}".into(), Value::to_string);
                events.push(Event::ToolCall(ToolCall { id: text("id"), name: text("name"), input }));
            }
            Some("result") => {
                let is_error = json::is_true(event, &["is_error"]);
                events.push(Event::ToolResult(ToolResult { id: text("id"), output: text("output"), is_error }));
            }
            Some("usage") => events.push(Event::Usage(usage(event))),
            Some("error") => self.error = Some(reported_failure(event, text("message"))),
            // The turn is over, regardless of what the process does next.
            Some("done") => events.push(Event::Done(finished(None))),
            // Unknown: formats change.
            Some(_) | None => return false,
        }
        true
    }

    // The outcome of a process that exited without `done`. With `None`, `JsonLines` decides by the exit code and the tail of
    // standard error.
    fn exited(&mut self, code: i32) -> Option<Outcome> {
        (code != 0).then(|| self.error.take())?.map(Outcome::from)
    }
}

/// The CLI's error event as a failure. The category determines retry, fallback and the HTTP status. `classify::failure` finds
/// the category of plain error text.
fn reported_failure(event: &Value, message: String) -> Failure {
    match json::text(event, &["kind"]) {
        Some("rate_limit") => {
            let seconds = json::count(event, &["retry_after"]);
            let retry = (seconds > 0).then(|| RetryHint::AfterMs(seconds.saturating_mul(1000)));
            Failure { retry, ..Failure::new(Category::RateLimit, "The provider's rate limit is reached", message) }
        }
        Some("login") => Failure::new(Category::Authentication, format!("{PROGRAM} is not logged in"), message),
        Some(_) | None => classify::failure(&message),
    }
}

/// The tokens of the run so far: a later record replaces an earlier one.
fn usage(event: &Value) -> Usage {
    Usage {
        scope: UsageScope::Run,
        input: json::count(event, &["input"]),
        cached_input: 0,
        cache_write: 0,
        output: json::count(event, &["output"]),
        reasoning: 0,
    }
}
