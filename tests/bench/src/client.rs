//! A client of the chat API with little overhead: one kept connection, whose input is read as it arrives and decoded only after the end
//! of the answer.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::clock::now;
use crate::connection::{Connection, Lines};

/// The path of the chat API.
pub(crate) const CHAT: &str = "/v1/chat/completions";

/// Longest idle time of a connection before another is opened, because the server closes idle ones.
const IDLE: Duration = Duration::from_secs(5);

/// A client with its connection.
#[derive(Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    connection: Connection,
}

/// An answer that is read, but not decoded. Its status is 200.
#[derive(Debug)]
pub(crate) struct Unread {
    asked: Duration,
    streamed: bool,
    body: Lines,
}

impl Client {
    /// Connects a client.
    pub(crate) fn connect(address: SocketAddr) -> Result<Self> {
        Ok(Self { address, connection: Connection::open(address)? })
    }

    /// Sends one request to a model, and reads and decodes the whole answer.
    pub(crate) fn ask(&mut self, model: &str, prompt: &str, streamed: bool) -> Result<Answer> {
        self.send(model, prompt, streamed)?.decode()
    }

    /// Sends one request to a model, and reads the whole answer.
    pub(crate) fn send(&mut self, model: &str, prompt: &str, streamed: bool) -> Result<Unread> {
        let body = json!({"model": model, "messages": [{"role": "user", "content": prompt}], "stream": streamed});
        let body = body.to_string();
        if now().saturating_sub(self.connection.read) > IDLE {
            self.connection = Connection::open(self.address)?;
        }
        let asked = now();
        self.connection.send("POST", CHAT, &body)?;
        let head = self.connection.head()?;
        let body = if head.chunked { self.connection.chunks()? } else { self.connection.whole(&head)? };
        if head.closes {
            self.connection = Connection::open(self.address)?;
        }
        ensure!(
            head.status == 200,
            "{model} answers {}: {}",
            head.status,
            body.into_iter().map(|(_, line)| line).collect::<String>()
        );
        Ok(Unread { asked, streamed, body })
    }

    /// Cancels a run.
    pub(crate) fn cancel(&mut self, run: &str) -> Result<()> {
        self.connection = Connection::open(self.address)?;
        self.connection.send("DELETE", &format!("/v1/runs/{run}"), "")?;
        let head = self.connection.head()?;
        self.connection.whole(&head)?;
        ensure!((200..300).contains(&head.status), "the cancellation of {run} is answered with {}", head.status);
        Ok(())
    }
}

impl Unread {
    fn decode(self) -> Result<Answer> {
        let (pieces, ended) = if self.streamed { deltas(self.body)? } else { message(self.body)? };
        Ok(Answer { asked: self.asked, pieces, ended })
    }
}

/// The text of the deltas, and the time of the end of the stream.
fn deltas(lines: Lines) -> Result<(Lines, Duration)> {
    let mut pieces = Vec::new();
    for (at, line) in lines {
        let Some(data) = line.strip_prefix("data: ") else { continue };
        if data.trim_end() == "[DONE]" {
            return Ok((pieces, at));
        }
        let chunk: Value = serde_json::from_str(data)?;
        ensure!(chunk["error"].is_null(), "the stream has an error: {chunk}");
        if let Some(text) = chunk["choices"][0]["delta"]["content"].as_str().filter(|text| !text.is_empty()) {
            pieces.push((at, text.to_owned()));
        }
    }
    bail!("the stream ends before its end")
}

/// The text of a whole answer, and the time of its last byte.
fn message(lines: Lines) -> Result<(Lines, Duration)> {
    let at = lines.last().context("an answer without a body")?.0;
    let body: Value = serde_json::from_str(&lines.into_iter().map(|(_, line)| line).collect::<String>())?;
    let text = body["choices"][0]["message"]["content"].as_str().context("an answer without content")?;
    Ok((vec![(at, text.to_owned())], at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_stream_is_that_of_its_deltas_and_ends_with_done() {
        let at = Duration::from_millis;
        let line = |number, text: &str| (at(number), format!("{text}\n"));
        let delta = |text: &str| format!("data: {}", json!({"choices": [{"delta": {"content": text}}]}));
        let stream = |last: &str| {
            vec![line(1, &delta("")), line(1, ""), line(2, &delta("a")), line(3, ": sign of life"), line(4, last)]
        };
        assert_eq!(deltas(stream("data: [DONE]")).unwrap(), (vec![(at(2), "a".into())], at(4)));
        assert!(deltas(stream("")).is_err());
        assert!(deltas(stream(r#"data: {"error": {"message": "failed"}}"#)).is_err());
    }
}
