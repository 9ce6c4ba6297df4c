//! The chat surface: bodies of requests, and the combined chunks of a streamed answer.

use serde_json::{Value, json};

use super::sse::{Events, StreamItem};
use super::wait::DEADLINE;

/// The body of a request with one message.
pub(crate) fn chat(model: &str, text: &str) -> Value {
    json!({"model": model, "messages": [user(text)]})
}

/// A message of the user.
pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// The body of an error.
pub(crate) fn error(message: &str, kind: &str, param: Option<&str>, code: &str, detail: Option<&str>) -> Value {
    let mut error = json!({"message": message, "type": kind, "param": param, "code": code});
    if let Some(detail) = detail {
        error["detail"] = detail.into();
    }
    json!({"error": error})
}

/// Checks the id and the time of a completion or a chunk, and replaces them with `ID` and 0.
pub(crate) fn known(mut answer: Value) -> Value {
    let id = answer["id"].as_str().and_then(|id| id.strip_prefix("chatcmpl-")).expect("an id");
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let created = answer["created"].as_u64().expect("a time");
    assert!((now - DEADLINE.as_secs()..=now).contains(&created), "{created}");
    answer["id"] = "ID".into();
    answer["created"] = 0.into();
    answer
}

/// The combined chunks of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Streamed {
    pub(crate) content: String,
    pub(crate) reasoning: String,
    pub(crate) finish_reason: Option<String>,
    pub(crate) usage: Option<Value>,
    pub(crate) error: Option<Value>,
    /// Whether the stream ended with `[DONE]`.
    pub(crate) done: bool,
}

impl Streamed {
    /// Reads a stream to its end.
    pub(crate) fn read(events: Events) -> Self {
        let mut streamed = Self::default();
        for item in events {
            let StreamItem::Data(data) = item else { continue };
            assert!(!streamed.done, "data after the end: {data}");
            if data == "[DONE]" {
                streamed.done = true;
            } else {
                streamed.add(serde_json::from_str(&data).unwrap());
            }
        }
        streamed
    }

    fn add(&mut self, mut chunk: Value) {
        if !chunk["error"].is_null() {
            self.error = Some(chunk);
            return;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let choice = &chunk["choices"][0];
        self.content += &text(&choice["delta"]["content"]);
        self.reasoning += &text(&choice["delta"]["reasoning_content"]);
        self.finish_reason = choice["finish_reason"].as_str().map(str::to_owned).or(self.finish_reason.take());
        self.usage = Some(chunk["usage"].take()).filter(|usage| !usage.is_null()).or(self.usage.take());
    }
}
