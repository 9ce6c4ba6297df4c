//! A minimal HTTP/1.1 client: one request a connection, with control over every byte.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use super::wait::DEADLINE;

/// A request.
#[derive(Clone)]
pub(crate) struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// The body of an answer, read as it arrives.
#[derive(Debug)]
pub(crate) struct Body {
    stream: BufReader<TcpStream>,
    /// The bytes of the current chunk that have not been read.
    left: usize,
    /// Whether the body is chunked.
    chunked: bool,
    ended: bool,
}

impl Request {
    pub(crate) fn get(path: &str) -> Self {
        Self { method: "GET".to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// A request with a body that is declared as JSON.
    pub(crate) fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let post = Self { method: "POST".to_owned(), body: body.into(), ..Self::get(path) };
        post.header("content-type", "application/json")
    }

    /// A request for a completion.
    pub(crate) fn complete(body: &Value) -> Self {
        Self::post("/v1/chat/completions", body.to_string())
    }

    pub(crate) fn method(self, method: &str) -> Self {
        Self { method: method.to_owned(), ..self }
    }

    /// Sets a header, and replaces an existing one.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets several headers.
    pub(crate) fn headers(self, headers: &[(&str, &str)]) -> Self {
        headers.iter().fold(self, |request, (name, value)| request.header(name, value))
    }

    /// Removes a header.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self
    }

    /// Sends the request without waiting for an answer. Dropping the connection is a client that disconnects.
    pub(crate) fn open(&self, to: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(to).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(&self.bytes(to)).unwrap();
        stream
    }

    /// Sends the request, and waits for the head of the answer.
    pub(crate) fn send(&self, to: SocketAddr) -> (Answer, Body) {
        let mut stream = BufReader::new(self.open(to));
        let mut line = || {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).expect("a status line").parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = line();
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let answer = Answer { status, headers, body: String::new() };
        let chunked = answer.header("transfer-encoding") == Some("chunked");
        let left = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        (answer, Body { stream, left, chunked, ended: false })
    }

    /// Sends the request, and returns the raw body of the answer.
    pub(crate) fn raw(&self, to: SocketAddr) -> Vec<u8> {
        let (head, mut body) = self.send(to);
        assert_eq!(head.status, 200, "{head:?}");
        let mut bytes = Vec::new();
        body.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn bytes(&self, to: SocketAddr) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name == "host") {
            head += &format!("host: {to}\r\n");
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n", self.body.len());
        [head.into_bytes(), self.body.clone()].concat()
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The text of the answer, which must be a completion.
    pub(crate) fn content(&self) -> String {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()["choices"][0]["message"]["content"].as_str().expect("a text").to_owned()
    }

    /// The body, which must be JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The answer with its body.
    pub(super) fn with(mut self, mut body: Body) -> Self {
        body.read_to_string(&mut self.body).unwrap();
        self
    }
}

impl Body {
    /// Reads the length of the next chunk.
    fn next_chunk(&mut self) -> Result<()> {
        let mut line = String::new();
        while line.trim().is_empty() {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(std::io::Error::other("the answer was cut off"));
            }
        }
        self.left = usize::from_str_radix(line.trim(), 16).expect("the length of a chunk");
        self.ended = self.left == 0;
        Ok(())
    }
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.left == 0 && self.chunked && !self.ended {
            self.next_chunk()?;
        }
        let room = into.len().min(self.left);
        let count = self.stream.read(&mut into[..room])?;
        self.left -= count;
        Ok(count)
    }
}
