//! Generated runs: a random script of an agent's actions, which a test writes as its CLI would, and which the plugin has to return
//! unchanged. `check.rs` has the check, `claude.rs` the form of Claude-like CLIs.

mod check;
mod claude;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use serde_json::{Value, json};

pub use check::check_generated;
pub use claude::claude_lines;

/// An agent's actions in a run, independent of a CLI's format.
#[derive(Clone, Debug)]
pub struct Script {
    /// The answers of the model. All except the last one call a tool.
    pub steps: Vec<Step>,
    /// Whether the CLI sends deltas, if it supports both.
    pub is_partial: bool,
    /// Whether the CLI escapes non-ASCII characters.
    pub is_ascii: bool,
}

/// One answer of the model, with the results of its calls.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its reasoning, in non-empty pieces.
    pub reasoning: Vec<String>,
    /// Its text, in non-empty pieces.
    pub text: Vec<String>,
    /// The tools it called.
    pub calls: Vec<Call>,
}

/// A call of a tool, and its result.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its id, unique in the run.
    pub id: String,
    /// The command that was run.
    pub command: String,
    /// Its output.
    pub output: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// Text that is difficult for readers of lines, JSON or terminals.
const SPECIAL_TEXTS: [&str; 22] = [
    "\u{2028}",
    "\u{2029}",
    "\u{85}",
    "\u{feff}",
    "\u{0}",
    "\u{1b}[31m",
    "\r",
    "\r\n",
    "\n",
    "\n\n",
    "\t",
    "\"",
    "\\",
    "\\n",
    "\\u0041",
    "👩\u{200d}💻",
    "é\u{301}",
    "[API Error: ",
    "```",
    "data: [DONE]",
    "{\"type\":\"result\"}",
    "</s>",
];

/// Random scripts.
pub fn scripts() -> impl Strategy<Value = Script> {
    (vec(step(true), 0..3), step(false), any::<bool>(), any::<bool>()).prop_map(
        |(mut steps, last, is_partial, is_ascii)| {
            steps.push(last);
            let calls = steps.iter_mut().flat_map(|step| &mut step.calls);
            calls.enumerate().for_each(|(number, call)| call.id = format!("call_{number}"));
            Script { steps, is_partial, is_ascii }
        },
    )
}

fn step(calls: bool) -> impl Strategy<Value = Step> {
    let count = if calls { 1..3 } else { 0..1 };
    (vec(text(), 0..3), vec(text(), 0..4), vec(call(), count)).prop_map(|(reasoning, text, calls)| Step {
        reasoning,
        text,
        calls,
    })
}

fn call() -> impl Strategy<Value = Call> {
    (text(), text(), any::<bool>()).prop_map(|(command, output, is_error)| Call {
        id: String::new(),
        command,
        output,
        is_error,
    })
}

/// Random non-empty text.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        vec(any::<char>(), 1..4).prop_map(String::from_iter),
        select(SPECIAL_TEXTS.as_slice()).prop_map(String::from),
        Just("word ".to_owned()),
    ];
    vec(word, 1..5).prop_map(|words| words.concat())
}

impl Script {
    /// The answer that a client receives: the messages, separated by blank lines.
    pub fn answer(&self) -> String {
        let messages = self.steps.iter().map(|step| step.text.concat());
        messages.filter(|message| !message.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// An event as a line.
    fn line(&self, event: &Value) -> String {
        let line = event.to_string();
        if self.is_ascii { escaped(&line) } else { line }
    }
}

impl Call {
    /// Its arguments.
    pub fn input(&self) -> Value {
        json!({ "command": self.command })
    }
}

/// JSON in ASCII: other characters are written as one or two escapes.
pub(super) fn escaped(json: &str) -> String {
    let mut units = [0; 2];
    let mut line = String::new();
    for sign in json.chars() {
        if sign.is_ascii() {
            line.push(sign);
        } else {
            line.extend(sign.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    line
}
