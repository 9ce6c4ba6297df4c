//! A client of the chat API with little overhead: one kept connection, whose input is read as it arrives and decoded only after the end
//! of the answer.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::clock::now;

/// Longest silence of an answer before the benchmark gives up. Only a broken program reaches it.
const SILENCE: Duration = Duration::from_secs(300);

/// Longest idle time of a connection before another is opened, because the server closes idle ones.
const IDLE: Duration = Duration::from_secs(5);

/// A client with its connection.
#[derive(Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    connection: Connection,
}

/// A connection, and the input that is not consumed yet.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    bytes: Vec<u8>,
    taken: usize,
    /// The time of the last read.
    read: Duration,
}

/// An answer that is read, but not decoded. Its status is 200.
#[derive(Debug)]
pub(crate) struct Unread {
    asked: Duration,
    streamed: bool,
    body: Lines,
}

/// The head of an answer.
#[derive(Debug, Default)]
struct Head {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    closes: bool,
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
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len(),
        );
        if now().saturating_sub(self.connection.read) > IDLE {
            self.connection = Connection::open(self.address)?;
        }
        let asked = now();
        self.connection.stream.write_all(request.as_bytes())?;
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
}

impl Unread {
    fn decode(self) -> Result<Answer> {
        let (pieces, ended) = if self.streamed { deltas(self.body)? } else { message(self.body)? };
        Ok(Answer { asked: self.asked, pieces, ended })
    }
}

/// Lines of a body, each with the time at which it was read.
type Lines = Vec<(Duration, String)>;

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

impl Connection {
    fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        Ok(Self { stream, bytes: Vec::with_capacity(64 * 1024), taken: 0, read: now() })
    }

    /// Reads at least one byte.
    fn fill(&mut self) -> Result<()> {
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        }
        let mut buffer = [0; 16 * 1024];
        let count = self.stream.read(&mut buffer).context("no answer")?;
        self.read = now();
        ensure!(count > 0, "the connection is closed in the middle of an answer");
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(())
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<String> {
        loop {
            if let Some(length) = self.bytes[self.taken..].iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8(self.bytes[self.taken..self.taken + length].to_vec())?;
                self.taken += length + 1;
                return Ok(line.trim_end().to_owned());
            }
            self.fill()?;
        }
    }

    /// Reads `count` bytes.
    fn take(&mut self, count: usize) -> Result<&[u8]> {
        while self.bytes.len() - self.taken < count {
            self.fill()?;
        }
        self.taken += count;
        Ok(&self.bytes[self.taken - count..self.taken])
    }

    fn head(&mut self) -> Result<Head> {
        let status = self.line()?.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut head = Head { status: status.context("no status line")?, ..Head::default() };
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(':').map(|(name, value)| (name, value.trim())) {
                Some(("content-length", value)) => head.length = Some(value.parse()?),
                Some(("transfer-encoding", value)) => head.chunked = value == "chunked",
                Some(("connection", value)) => head.closes = value == "close",
                Some(_) => {}
                None => return Ok(head),
            }
        }
    }

    fn whole(&mut self, head: &Head) -> Result<Lines> {
        let body = self.take(head.length.context("an answer of unknown length")?)?.to_vec();
        Ok(vec![(self.read, String::from_utf8(body)?)])
    }

    fn chunks(&mut self) -> Result<Lines> {
        let (mut lines, mut open) = (Vec::new(), Vec::new());
        loop {
            let size = usize::from_str_radix(&self.line()?, 16)?;
            open.extend_from_slice(self.take(size)?);
            self.line()?;
            if size == 0 {
                return Ok(lines);
            }
            while let Some(end) = open.iter().position(|byte| *byte == b'\n') {
                let line = open.drain(..=end).collect();
                lines.push((self.read, String::from_utf8(line)?));
            }
        }
    }
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
