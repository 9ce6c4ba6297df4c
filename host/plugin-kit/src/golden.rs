//! `golden.json`: the expected events of a recorded run, one event a line.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agentbay_domain::Event;
use serde::Serialize;
use serde_json::Value;

use super::error::KitError;
use super::replay::Replay;

const FILE: &str = "golden.json";

/// The expected events of the run in a folder; `None` if there is no `golden.json`.
///
/// # Errors
/// The file cannot be read.
pub(super) fn expected(folder: &Path) -> Result<Option<String>, KitError> {
    let path = file(folder);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(KitError::File { path, error }),
    }
}

/// Writes the expected events of the run in a folder.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(folder: &Path, text: &str) -> Result<(), KitError> {
    let path = file(folder);
    fs::write(&path, text).map_err(KitError::file(path))
}

/// The file form of a replay: one event a line, which keeps differences readable.
pub(super) fn to_text(replay: &Replay) -> String {
    let events: Vec<String> = replay.events.iter().map(line).collect();
    format!("{{\"events\":[\n{}\n],\n\"outcome\":{}}}\n", events.join(",\n"), json(&replay.outcome))
}

/// An event as one line of JSON.
pub(super) fn line(event: &Event) -> String {
    json(event).to_string()
}

/// Serialises through a `Value`, which sorts the keys.
fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{
        Category, Extra, Failure, Level, Notice, Outcome, RetryHint, StopReason, ToolCall, ToolResult, Usage,
        UsageReport, UsageScope,
    };

    use super::*;

    fn text(text: &str) -> String {
        text.to_owned()
    }

    #[test]
    fn a_replay_is_written_with_one_event_a_line_and_the_names_of_the_contract() {
        let retry = Some(RetryHint::AfterMs(1000));
        let failure = Failure { retry, ..Failure::new(Category::RateLimit, "m", "d") };
        let usage =
            UsageReport { scope: UsageScope::Step, usage: Usage { input: 1, cached_input: 2, ..Usage::default() } };
        let outcome = Outcome::Finished { stop: StopReason::MaxTurns, answer: Some(text("a")) };
        let events = vec![
            Event::Text(text("x\n")),
            Event::TextBreak,
            Event::ToolCall(ToolCall { id: text("1"), name: text("n"), input: text("{}") }),
            Event::ToolResult(ToolResult { id: text("1"), output: text("o"), is_error: true }),
            Event::Usage(usage),
            Event::Notice(Notice { level: Level::Warning, message: text("w") }),
            Event::EndInput,
            Event::Extra(Extra { kind: text("k"), json: text("1") }),
            Event::Done(failure.into()),
        ];
        let expected = r#"{"events":[
{"text":"x\n"},
"text-break",
{"tool-call":{"id":"1","input":"{}","name":"n"}},
{"tool-result":{"id":"1","is-error":true,"output":"o"}},
{"usage":{"cache-write":0,"cached-input":2,"input":1,"output":0,"reasoning":0,"scope":"step"}},
{"notice":{"level":"warning","message":"w"}},
"end-input",
{"extra":{"json":"1","kind":"k"}},
{"done":{"answer":null,"failure":{"category":"rate-limit","detail":"d","message":"m","retry":{"after-ms":1000}},"stop":"end-turn"}}
],
"outcome":{"answer":"a","failure":null,"stop":"max-turns"}}
"#;
        assert_eq!(to_text(&Replay { events, outcome }), expected);
    }
}
