//! Events that never reach a client: the host drops them, or no client can use them.

use std::collections::HashSet;

use agentbay_domain::{Event, Outcome, SessionId, ToolCall, ToolResult, UsageReport};
use serde_json::Value;

/// Number of characters shown of a value.
const SHOWN_CHARS: usize = 80;

/// The reason for each event of a run that is dropped or unusable, in order.
pub(super) fn dropped(events: &[Event]) -> Vec<String> {
    let mut found = Vec::new();
    let mut calls = HashSet::new();
    let mut may_continue = false;
    // A recorded process that continued with another turn ends that one with a `done` too. Events after a failure are
    // ignored.
    let is_end = |event: &Event| matches!(event, Event::Done(Outcome::Finished { .. }));
    let end = events.iter().rposition(is_end).unwrap_or(events.len());
    for (at, event) in events.iter().enumerate() {
        match event {
            // A notice is for the log only.
            Event::Notice(_) => {}
            _ if at > end && !may_continue => {
                found.push(format!("`{}` follows `done`, and is dropped", name(event)));
            }
            Event::Session(id) if SessionId::try_from(id.as_str()).is_err() => {
                let allowed = "letters, digits, `.`, `_`, `:` and `-`, at most 200, starting with a letter or digit";
                found.push(format!("the session {} is not sent to clients: an id has {allowed}", shown(id)));
            }
            Event::ToolCall(ToolCall { id, name, input }) => {
                calls.insert(id);
                if serde_json::from_str::<Value>(input).is_err() {
                    found.push(format!("the input of the tool `{name}` is not valid JSON: {}", shown(input)));
                }
            }
            Event::ToolResult(ToolResult { id, .. }) if !calls.contains(id) => {
                found.push(format!("a tool result has the id {}, which no earlier tool call has", shown(id)));
            }
            Event::Usage(UsageReport { usage, .. }) => {
                for (part, of, is_more) in [
                    ("cached-input", "input", usage.cached_input > usage.input),
                    ("cache-write", "input", usage.cache_write > usage.input),
                    ("reasoning", "output", usage.reasoning > usage.output),
                ] {
                    if is_more {
                        found.push(format!("`usage` has more `{part}` than `{of}`, which includes it"));
                    }
                }
            }
            // The plugin asked the host to keep reading after the end.
            Event::Extra(extra) if extra.kind == "settle" => may_continue = true,
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
