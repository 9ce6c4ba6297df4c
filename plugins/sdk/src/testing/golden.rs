//! `golden.json`: the expected events and outcome of a recorded run. The variable `RENEW=1` writes the file instead of comparing
//! it; review the difference before you keep it.

use std::{env, fs, io};

use serde_json::{Value, json};

use super::{Capture, Grouping, Replay};
use crate::{
    Agent, Category, Event, Failure, Level, Outcome, RetryHint, Stop, ToolCall, ToolResult, Turn, Usage, UsageScope,
};

const FILE: &str = "golden.json";

/// Compares each recorded run with its `golden.json`, or writes the file. `turn` returns the turn of a run.
///
/// # Errors
/// If a file cannot be read or written, or, with all of the differences, if one is not as expected.
pub fn compare<A: Agent>(captures: &[Capture], turn: impl Fn(&Capture) -> Turn) -> io::Result<()> {
    let renew = is_renewing();
    let mut differences = String::new();
    for capture in captures {
        let actual = golden(&capture.replay::<A>(&turn(capture), Grouping::Whole));
        let path = capture.folder.join(FILE);
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if actual != expected {
            differences += &format!("{}:\n{}", capture.name(), difference(&expected, &actual));
            if renew {
                fs::write(&path, &actual)?;
            }
        }
    }
    if differences.is_empty() {
        Ok(())
    } else if renew {
        io::Write::write_all(&mut io::stderr(), differences.as_bytes())
    } else {
        Err(io::Error::other(differences))
    }
}

#[expect(clippy::disallowed_methods, reason = "a switch of a test run, which has no settings")]
fn is_renewing() -> bool {
    env::var_os("RENEW").is_some()
}

/// The file content: one event a line, which keeps differences readable.
fn golden(replay: &Replay) -> String {
    let events: Vec<String> = replay.events.iter().map(|event| event_json(event).to_string()).collect();
    format!("{{\"events\":[\n{}\n],\n\"outcome\":{}}}\n", events.join(",\n"), outcome_json(&replay.outcome))
}

/// The lines that only one of the two has.
fn difference(expected: &str, actual: &str) -> String {
    let only = |text: &str, other: &str, sign: char| {
        let lines = text.lines().filter(|line| !other.lines().any(|known| known == *line));
        lines.map(|line| format!("  {sign} {line}\n")).collect::<String>()
    };
    let lines = only(expected, actual, '-') + &only(actual, expected, '+');
    if lines.is_empty() { "  the order differs\n".into() } else { lines }
}

/// Events as JSON.
pub fn events_json(events: &[Event]) -> Value {
    events.iter().map(event_json).collect()
}

fn event_json(event: &Event) -> Value {
    match event {
        Event::Text(text) => json!({ "text": text }),
        Event::TextBreak => json!("text-break"),
        Event::Reasoning(text) => json!({ "reasoning": text }),
        Event::ToolCall(ToolCall { id, name, input }) => {
            json!({ "tool-call": { "id": id, "name": name, "input": input } })
        }
        Event::ToolResult(ToolResult { id, output, is_error }) => {
            json!({ "tool-result": { "id": id, "output": output, "is-error": is_error } })
        }
        Event::Session(id) => json!({ "session": id }),
        Event::Usage(usage) => json!({ "usage": usage_json(usage) }),
        Event::Notice(notice) => json!({ "notice": { "level": level(notice.level), "message": notice.message } }),
        Event::Reply(text) => json!({ "reply": text }),
        Event::EndInput => json!("end-input"),
        Event::Done(outcome) => json!({ "done": outcome_json(outcome) }),
        Event::Extra(extra) => json!({ "extra": { "kind": extra.kind, "json": extra.json } }),
    }
}

fn usage_json(usage: &Usage) -> Value {
    let scope = match usage.scope {
        UsageScope::Step => "step",
        UsageScope::Run => "run",
        UsageScope::Thread => "thread",
    };
    json!({
        "scope": scope, "input": usage.input, "cached-input": usage.cached_input, "cache-write": usage.cache_write,
        "output": usage.output, "reasoning": usage.reasoning,
    })
}

/// An outcome as JSON.
pub fn outcome_json(outcome: &Outcome) -> Value {
    let stop = match outcome.stop {
        Stop::EndTurn => "end-turn",
        Stop::MaxTurns => "max-turns",
        Stop::MaxTokens => "max-tokens",
        Stop::Refusal => "refusal",
    };
    json!({ "stop": stop, "failure": outcome.failure.as_ref().map(failure_json), "answer": outcome.answer })
}

fn failure_json(failure: &Failure) -> Value {
    let retry = failure.retry.as_ref().map(|hint| match hint {
        RetryHint::AfterMs(wait) => json!({ "after-ms": wait }),
        RetryHint::AtEpochMs(at) => json!({ "at-epoch-ms": at }),
        RetryHint::AtClock(clock) => json!({ "at-clock": {
            "hour": clock.hour, "minute": clock.minute, "day": clock.day, "month": clock.month, "year": clock.year,
            "zone": clock.zone,
        } }),
    });
    json!({
        "category": category(failure.category), "message": failure.message, "detail": failure.detail, "retry": retry,
    })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
    }
}

pub(crate) fn category(category: Category) -> &'static str {
    match category {
        Category::Quota => "quota",
        Category::RateLimit => "rate-limit",
        Category::Authentication => "authentication",
        Category::Validation => "validation",
        Category::Network => "network",
        Category::Server => "server",
        Category::Timeout => "timeout",
        Category::NotFound => "not-found",
        Category::Configuration => "configuration",
        Category::Unknown => "unknown",
    }
}
