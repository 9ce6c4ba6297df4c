//! A streamed answer that has begun: its run goes on until it is finished, cancelled, or dropped.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::client::CHAT;
use crate::connection::Connection;

/// Bytes of the end of a stream that are kept.
const TAIL: usize = 64;

/// A streamed answer of which the first text has arrived.
#[derive(Debug)]
pub(crate) struct OpenStream {
    connection: Connection,
    id: String,
}

impl OpenStream {
    /// Sends a request on a new connection, and reads the answer up to its first text.
    pub(crate) fn open(address: SocketAddr, model: &str, prompt: &str) -> Result<Self> {
        let mut connection = Connection::open(address)?;
        let body = json!({"model": model, "messages": [{"role": "user", "content": prompt}], "stream": true});
        connection.send("POST", CHAT, &body.to_string())?;
        let head = connection.head()?;
        ensure!(head.status == 200 && head.chunked, "{model} answers {}", head.status);
        let mut begun = Vec::new();
        loop {
            begun.extend_from_slice(connection.chunk()?.context("the stream ends before its first text")?);
            if let Some(id) = id_of_text(&begun) {
                return Ok(Self { connection, id });
            }
        }
    }

    /// The id of the run.
    pub(crate) fn run(&self) -> &str {
        self.id.trim_start_matches("chatcmpl-")
    }

    /// Reads the rest of the answer and drops it; returns the number of bytes.
    pub(crate) fn finish(mut self) -> Result<usize> {
        let (mut tail, mut bytes) = (Vec::new(), 0);
        while let Some(chunk) = self.connection.chunk()? {
            bytes += chunk.len();
            tail.extend_from_slice(chunk);
            tail.drain(..tail.len().saturating_sub(TAIL));
        }
        let tail = String::from_utf8_lossy(&tail);
        ensure!(tail.trim_end().ends_with("data: [DONE]"), "the stream ends with {tail:?}");
        Ok(bytes)
    }
}

/// The id of the answer, if there is a delta with text.
fn id_of_text(stream: &[u8]) -> Option<String> {
    let events = stream.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data: "));
    let chunks = events.filter_map(|data| serde_json::from_slice::<Value>(data).ok());
    let mut with_text =
        chunks.filter(|chunk| chunk["choices"][0]["delta"]["content"].as_str().is_some_and(|text| !text.is_empty()));
    Some(with_text.next()?["id"].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_begun_with_its_first_text() {
        let chunk = |delta: Value| format!("data: {}\n\n", json!({"id": "a", "choices": [{"delta": delta}]}));
        let role = chunk(json!({"role": "assistant", "content": ""}));
        let text = role.clone() + &chunk(json!({"content": "word"}));
        assert_eq!(id_of_text(role.as_bytes()), None);
        assert_eq!(id_of_text(&text.as_bytes()[..text.len() - 5]), None);
        assert_eq!(id_of_text(text.as_bytes()), Some("a".into()));
    }
}
