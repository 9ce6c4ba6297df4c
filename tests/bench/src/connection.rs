//! A connection to a server, and the answers on it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::clock::now;

/// Longest silence of an answer before the benchmark gives up. Only a broken program reaches it.
const SILENCE: Duration = Duration::from_secs(60);

/// Read input beyond this is dropped.
const KEPT: usize = 64 * 1024;

/// Lines of a body, each with the time at which it was read.
pub(crate) type Lines = Vec<(Duration, String)>;

/// A connection, and the input that is not consumed yet.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    bytes: Vec<u8>,
    taken: usize,
    /// The time of the last read.
    pub(crate) read: Duration,
}

/// The head of an answer.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) length: Option<usize>,
    pub(crate) chunked: bool,
    pub(crate) closes: bool,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        Ok(Self { stream, bytes: Vec::new(), taken: 0, read: now() })
    }

    /// Reads at least one byte.
    fn fill(&mut self) -> Result<()> {
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        } else if self.taken > KEPT {
            self.bytes.drain(..self.taken);
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

    pub(crate) fn head(&mut self) -> Result<Head> {
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

    pub(crate) fn whole(&mut self, head: &Head) -> Result<Lines> {
        let body = self.take(head.length.context("an answer of unknown length")?)?.to_vec();
        Ok(vec![(self.read, String::from_utf8(body)?)])
    }

    pub(crate) fn chunks(&mut self) -> Result<Lines> {
        let (mut lines, mut open) = (Vec::new(), Vec::new());
        while let Some(chunk) = self.chunk()? {
            open.extend_from_slice(chunk);
            while let Some(end) = open.iter().position(|byte| *byte == b'\n') {
                let line = open.drain(..=end).collect();
                lines.push((self.read, String::from_utf8(line)?));
            }
        }
        if !open.is_empty() {
            lines.push((self.read, String::from_utf8(open)?));
        }
        Ok(lines)
    }

    /// The next chunk of a body; `None` at its end.
    pub(crate) fn chunk(&mut self) -> Result<Option<&[u8]>> {
        let size = usize::from_str_radix(&self.line()?, 16)?;
        let end = size + 2;
        let chunk = self.take(end)?;
        Ok(Some(&chunk[..size]).filter(|chunk| !chunk.is_empty()))
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) -> Result<()> {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n",
            self.stream.peer_addr()?,
        );
        Ok(self.stream.write_all((head + body).as_bytes())?)
    }
}
