//! The failure in a value: an error event, an error object or string, a flag.

use agentbay_plugin_sdk::{Failure, Value, classify, json};

/// Maximum number of characters shown of a value without an error message.
const SHOWN_CHARS: usize = 2000;

/// An error that a CLI reported. It counts unless text or an answer follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    message: String,
    code: String,
    status: Option<u64>,
}

impl Fault {
    /// The error at the configured path; `None` if it is absent, `false` or empty.
    pub(crate) fn at(error: &Value, event: &Value) -> Option<Self> {
        json::is_error(error).then(|| Self::new(error, event))
    }

    /// The error in a value without a configured path; `None` if it does not have the form of one.
    pub(crate) fn in_value(value: &Value) -> Option<Self> {
        let kind = json::text(value, &["type"]);
        if matches!(json::text(value, &["role"]), Some("user" | "system" | "tool")) {
            return None;
        }
        let error = json::at(value, &["error"]).filter(|error| json::is_error(error));
        match kind {
            Some("error" | "fatal" | "failed" | "turn.failed" | "turn_failed") => {
                Some(Self::new(error.unwrap_or(value), value))
            }
            // In other kinds of events, such as a tool's result, a flag or an error concerns only that event.
            None | Some("result") if error.is_some() || is_flagged(value) => {
                Some(Self::new(error.unwrap_or(value), value))
            }
            _ => None,
        }
    }

    /// The CLI reached its limit of steps.
    pub(crate) fn is_turn_limit(&self) -> bool {
        self.code == "error_max_turns"
    }

    /// The classified failure.
    pub(crate) fn failure(&self) -> Failure {
        classify::ErrorReport::new(&self.message).status(self.status).code(&self.code).failure()
    }

    fn new(error: &Value, event: &Value) -> Self {
        let either = |names: &[&str]| {
            let found = |value| names.iter().find_map(|name| json::at(value, &[name])).cloned();
            found(error).or_else(|| found(event))
        };
        let status = either(&["status", "statusCode", "status_code", "code"]).map(|status| json::count(&status, &[]));
        let code = either(&["code", "errorClass", "subtype", "name"]);
        Self {
            message: words(error, event),
            code: code.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(),
            status: status.filter(|status| (400..600).contains(status)),
        }
    }
}

/// `is_error`, `success: false`, `status: "failed"`, `subtype: "error_max_turns"`.
fn is_flagged(value: &Value) -> bool {
    let says = |name: &str, meant: fn(&str) -> bool| json::text(value, &[name]).is_some_and(meant);
    let is_bad = |word: &str| matches!(word, "error" | "failed" | "failure");
    let is = |name: &str, flag: bool| json::at(value, &[name]).and_then(Value::as_bool) == Some(flag);
    ["is_error", "isError"].iter().any(|name| json::is_true(value, &[name]))
        || ["success", "ok"].iter().any(|name| is(name, false))
        || says("status", is_bad)
        || says("subtype", |word| word.starts_with("error"))
}

/// The message: in the error itself, else where the event has its answer, else the whole value.
fn words(error: &Value, event: &Value) -> String {
    const WORDS: [&str; 7] = ["message", "result", "text", "content", "detail", "errors", "subtype"];
    let message = json::error_message(error);
    if !message.is_empty() && !message.starts_with('{') {
        return message;
    }
    let found = WORDS.iter().find_map(|name| json::at(event, &[name]).and_then(json::content_text));
    found.filter(|words| !words.trim().is_empty()).unwrap_or_else(|| message.chars().take(SHOWN_CHARS).collect())
}
