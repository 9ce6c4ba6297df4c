//! What a plugin tells and nobody gets: the host drops it, or no client can use it.

use std::collections::HashSet;

use agentbay_domain::{Event, Outcome, SessionId, ToolCall, ToolResult, UsageReport};
use serde_json::Value;

/// How many characters of a value are shown.
const SHOWN_CHARS: usize = 80;

/// The events of a run that are told in vain, each with the reason, in their order.
pub(super) fn dropped(events: &[Event]) -> Vec<String> {
    let mut found = Vec::new();
    let mut calls = HashSet::new();
    let mut may_go_on = false;
    // Where a recorded process went on with another turn, that one ends with a `done` too. What a CLI says behind a failure
    // is of no interest.
    let is_end = |event: &Event| matches!(event, Event::Done(Outcome::Finished { .. }));
    let end = events.iter().rposition(is_end).unwrap_or(events.len());
    for (at, event) in events.iter().enumerate() {
        match event {
            // A remark for the log is no loss.
            Event::Notice(_) => {}
            _ if at > end && !may_go_on => {
                found.push(format!("`{}` comes behind `done`, and is dropped", name(event)));
            }
            Event::Session(id) if SessionId::try_from(id.as_str()).is_err() => {
                let allowed = "letters, digits, `.`, `_`, `:` and `-`, at most 200, beginning with a letter or digit";
                found.push(format!("the session {} is not told to clients: an id has {allowed}", shown(id)));
            }
            Event::ToolCall(ToolCall { id, name, input }) => {
                calls.insert(id);
                if serde_json::from_str::<Value>(input).is_err() {
                    found.push(format!("the input of the tool `{name}` is no JSON: {}", shown(input)));
                }
            }
            Event::ToolResult(ToolResult { id, .. }) if !calls.contains(id) => {
                found.push(format!("a tool's result has the id {}, and no call before it has", shown(id)));
            }
            Event::Usage(UsageReport { usage, .. }) => {
                for (part, of, is_more) in [
                    ("cached-input", "input", usage.cached_input > usage.input),
                    ("cache-write", "input", usage.cache_write > usage.input),
                    ("reasoning", "output", usage.reasoning > usage.output),
                ] {
                    if is_more {
                        found.push(format!("`usage` has more `{part}` than `{of}`, of which it is a part"));
                    }
                }
            }
            // The plugin asked the host to listen for a moment behind the end.
            Event::Extra(extra) if extra.kind == "settle" => may_go_on = true,
            _ => {}
        }
    }
    found
}

fn name(event: &Event) -> &'static str {
    match event {
        Event::Text(_) => "text",
        Event::TextBreak => "text-break",
        Event::Reasoning(_) => "reasoning",
        Event::ToolCall(_) => "tool-call",
        Event::ToolResult(_) => "tool-result",
        Event::Session(_) => "session",
        Event::Usage(_) => "usage",
        Event::Notice(_) => "notice",
        Event::Reply(_) => "reply",
        Event::EndInput => "end-input",
        Event::Done(_) => "done",
        Event::Extra(_) => "extra",
    }
}

fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(SHOWN_CHARS).collect::<String>())
}
