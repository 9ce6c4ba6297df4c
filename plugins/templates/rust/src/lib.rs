//! The plugin: how {{name}}-cli is started, and what its output means. It touches nothing of the machine: text comes in,
//! values go out. What each value means is said in wit/agent.wit, and what else the SDK has, in sdk/src/lib.rs.
//!
//! Change what the comments point at, and keep four rules: text of the answer is given once, however often the CLI repeats
//! it; how the output is grouped into calls makes no difference; what is not understood is skipped; nothing panics.

use agentbay_plugin_sdk::{
    Agent, Category, Description, Event, Failure, Features, Framing, JsonLines, Outcome, Permission, Plan, Protocol,
    RetryHint, ToolCall, ToolResult, Turn, Usage, UsageScope, Value, classify, export_agent, finished, json,
};

const PROGRAM: &str = "{{name}}-cli";

// The one line that makes this crate a plugin.
export_agent!(Cli);

/// What the CLI is, and how it is started.
#[derive(Debug)]
pub struct Cli;

impl Agent for Cli {
    // For a CLI that prints one JSON event a line. For another one implement `Transcript` yourself.
    type Transcript = JsonLines<Events>;

    fn describe() -> Description {
        Description {
            // Nothing else can be started.
            programs: vec![PROGRAM.into()],
            // Claim what is so, and leave out the rest: the host relies on it.
            features: Features::PARTIAL
                | Features::TOOLS
                | Features::RESUME
                | Features::MODEL_CHOICE
                | Features::READ_ONLY,
            // The id is `driver` in proxy.toml. With `Framing::Text` output comes as it was printed.
            ..Description::new("{{name}}", "{{name}}", env!("CARGO_PKG_VERSION"), Framing::Lines)
        }
    }

    // The prompt does not belong into the command line: it is written to standard input, which is then closed
    // (`Protocol::input`). Choose flags with which the CLI never waits for a person.
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

/// What one process said, as far as it must be remembered between two lines.
#[derive(Debug)]
pub struct Events {
    /// What the CLI said on its error channel last.
    error: Option<Failure>,
}

impl Protocol for Events {
    const NAME: &'static str = PROGRAM;

    fn new(_turn: &Turn) -> Self {
        Self { error: None }
    }

    // What one line means. Put the events of your CLI here.
    fn read(&mut self, said: &Value, events: &mut Vec<Event>) -> bool {
        let text = |name: &str| json::text(said, &[name]).unwrap_or_default().to_owned();
        match json::text(said, &["type"]) {
            Some("session") => events.push(Event::Session(text("id"))),
            Some("text") => events.push(Event::Text(text("text"))),
            Some("tool") => {
                let input = json::at(said, &["input"]).map_or_else(|| "{}".into(), Value::to_string);
                events.push(Event::ToolCall(ToolCall { id: text("id"), name: text("name"), input }));
            }
            Some("result") => {
                let is_error = json::is_true(said, &["is_error"]);
                events.push(Event::ToolResult(ToolResult { id: text("id"), output: text("output"), is_error }));
            }
            Some("usage") => events.push(Event::Usage(usage(said))),
            Some("error") => self.error = Some(told(said, text("message"))),
            // The turn is over, whatever the process does after it.
            Some("done") => events.push(Event::Done(finished(None))),
            // Formats change.
            Some(_) | None => return false,
        }
        true
    }

    // The verdict on a process that ended without `done`. What this does not decide, `JsonLines` does by the exit code and
    // the end of standard error.
    fn exited(&mut self, code: i32) -> Option<Outcome> {
        (code != 0).then(|| self.error.take())?.map(Outcome::from)
    }
}

/// The CLI's error event as a failure. The category decides about retry, fallback and the HTTP status. What the CLI says in
/// words only, `classify::failure` finds out.
fn told(said: &Value, message: String) -> Failure {
    match json::text(said, &["kind"]) {
        Some("rate_limit") => {
            let seconds = json::count(said, &["retry_after"]);
            let retry = (seconds > 0).then(|| RetryHint::AfterMs(seconds.saturating_mul(1000)));
            Failure { retry, ..Failure::new(Category::RateLimit, "The provider's rate limit is reached", message) }
        }
        Some("login") => Failure::new(Category::Authentication, format!("{PROGRAM} is not logged in"), message),
        Some(_) | None => classify::failure(&message),
    }
}

/// The tokens of the run so far: a later record takes the place of an earlier one.
fn usage(said: &Value) -> Usage {
    Usage {
        scope: UsageScope::Run,
        input: json::count(said, &["input"]),
        cached_input: 0,
        cache_write: 0,
        output: json::count(said, &["output"]),
        reasoning: 0,
    }
}
