//! The form of the messages: JSON-RPC 2.0, one message a line. `dialogue.rs` defines their meaning.

use serde_json::json;

use crate::{Event, Value, json};

/// The code of the error "method not found".
const METHOD_NOT_FOUND: i64 = -32601;

/// A message of the agent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Message<'a> {
    /// A request, which expects an answer.
    Request { id: &'a Value, method: &'a str, params: &'a Value },
    /// A notification.
    Notification { method: &'a str, params: &'a Value },
    /// The result of our request with this id.
    Result { id: u64, result: &'a Value },
    /// The error of our request with this id.
    Error { id: u64, error: &'a Value },
}

impl<'a> Message<'a> {
    /// Parses an object; `None` if it is not a message. The field `jsonrpc` is optional, since some agents omit it.
    pub(crate) fn of(line: &'a Value) -> Option<Self> {
        let params = json::at(line, &["params"]).unwrap_or(&Value::Null);
        let id = json::at(line, &["id"]).filter(|id| !id.is_null());
        match (json::text(line, &["method"]), id) {
            (Some(method), Some(id)) => Some(Self::Request { id, method, params }),
            (Some(method), None) => Some(Self::Notification { method, params }),
            (None, _) => {
                // Some agents return the id as a float or as a string.
                let id = json::integer(line, &["id"]).and_then(|id| u64::try_from(id).ok())?;
                match (json::at(line, &["error"]), json::at(line, &["result"])) {
                    (Some(error), _) if !error.is_null() => Some(Self::Error { id, error }),
                    (_, Some(result)) => Some(Self::Result { id, result }),
                    (_, None) => None,
                }
            }
        }
    }
}

/// A request to the agent.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Event {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// The answer to a request of the agent.
pub(crate) fn answer(id: &Value, result: &Value) -> Event {
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// The answer to an unknown request.
pub(crate) fn method_not_found(id: &Value, method: &str) -> Event {
    let error = json!({ "code": METHOD_NOT_FOUND, "message": format!("method not found: {method}") });
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

fn line(message: &Value) -> Event {
    Event::Reply(format!("{message}\n"))
}
