//! Requests as clients and reverse proxies change them, and answers as they need them.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::support::{DEADLINE, Machine, Proxy, Request, chat};

/// Sends bytes, and reads the answer until the connection is closed.
fn exchange(proxy: &Proxy, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(proxy.address()).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn t2_07_an_upgrade_to_http_2_and_http_1_0_are_answered_completely() {
    let (_machine, proxy) = Machine::echo();
    let host = proxy.address();
    for streamed in [false, true] {
        let body = json!({"model": "echo", "messages": [{"role": "user", "content": "hello"}], "stream": streamed})
            .to_string();
        let length = body.len();
        let head = |version: &str| {
            format!("POST /v1/chat/completions HTTP/{version}\r\nHost: {host}\r\nContent-Type: application/json")
        };
        let wish = "Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB";
        let chunked = format!("{length:x}\r\n{body}\r\n0\r\n\r\n");
        for (head, body) in [
            (format!("{}\r\n{wish}\r\nContent-Length: {length}", head("1.1")), &body),
            (format!("{}\r\n{wish}\r\nTransfer-Encoding: chunked", head("1.1")), &chunked),
            (format!("{}\r\n{wish}\r\nContent-Length: {length}", head("1.0")), &body),
            (format!("{}\r\nContent-Length: {length}", head("1.0")), &body),
        ] {
            let answer = exchange(&proxy, &head, body);
            let (answer_head, body) = answer.split_once("\r\n\r\n").unwrap();
            let answer_head = answer_head.to_ascii_lowercase();
            assert!(answer_head.starts_with("http/1.") && answer_head.contains(" 200 ok"), "{answer}");
            let (ending, is_1_0) = (if streamed { "data: [DONE]\n\n" } else { "}" }, head.contains("HTTP/1.0"));
            let is_chunked = answer_head.contains("transfer-encoding: chunked");
            assert!(body.contains("hello") && body.trim_end_matches("\r\n0\r\n\r\n").ends_with(ending), "{answer}");
            assert!(!(is_1_0 && is_chunked), "{answer}");
        }
    }
}

#[test]
fn t2_08_a_stream_instructs_proxies_not_to_buffer_it() {
    let (_machine, proxy) = Machine::echo();
    let (head, _events) = proxy.stream("echo", "hello");
    let headers = ["content-type", "cache-control", "x-accel-buffering"].map(|name| head.header(name));
    assert_eq!(headers, [Some("text/event-stream"), Some("no-cache, no-transform"), Some("no")]);
}

#[test]
fn t2_27_superfluous_slashes_are_ignored() {
    let machine = Machine::configured("[models.\"team/echo\"]\ndriver = \"echo\"\nrepo = \".\"\n");
    let proxy = machine.serve();
    let list = proxy.get("/v1/models");
    for path in ["/v1//models", "/v1/models/", "//v1/models//", "/v1/models/?limit=1000"] {
        let answer = proxy.get(path);
        assert_eq!((answer.status, answer.body.as_str()), (200, list.body.as_str()), "{path}");
    }
    let model = proxy.get("/v1/models/team/echo");
    for path in ["/v1//models/team/echo", "/v1/models/team%2Fecho/", "/v1/models//team//echo"] {
        let answer = proxy.get(path);
        assert_eq!((answer.status, answer.body.as_str()), (200, model.body.as_str()), "{path}");
    }
    for path in ["/v1//chat/completions", "/v1/chat/completions/", "//v1/chat//completions"] {
        assert_eq!(proxy.send(&Request::post(path, chat("team/echo", "hi").to_string())).status, 200, "{path}");
    }
}
