//! Limits of idle connections: their number and their time.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::{Machine, Proxy, Request};

fn serving(limits: &str) -> Proxy {
    let machine = Machine::configured(&format!("[models.echo]\ndriver = \"echo\"\nrepo = \".\"\n[limits]\n{limits}\n"));
    machine.serve()
}

/// A connection on which this was sent.
fn connect(proxy: &Proxy, text: &str) -> TcpStream {
    let mut connection = TcpStream::connect(proxy.address()).unwrap();
    connection.write_all(text.as_bytes()).unwrap();
    connection
}

/// The bytes that arrive on a connection before it is closed.
fn read_to_end(mut connection: TcpStream) -> String {
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    text
}

#[test]
pub(crate) fn a_connection_without_a_request_in_time_is_closed() {
    let proxy = serving("request_header_timeout = \"100ms\"");
    for text in ["", "GET /healthz HT", "GET /healthz HTTP/1.1\r\nhost: x\r\n"] {
        assert!(!read_to_end(connect(&proxy, text)).starts_with("HTTP/1.1 200"), "{text:?}");
    }
    // A connection without a second request after its answer.
    let kept = connect(&proxy, &format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", proxy.address()));
    assert!(read_to_end(kept).starts_with("HTTP/1.1 200"));
}

#[test]
pub(crate) fn connections_above_the_limit_wait_for_others_to_end() {
    let proxy = serving("connections = 2\nrequest_header_timeout = \"10m\"");
    let silent = [connect(&proxy, ""), connect(&proxy, "GET / HT")];
    proxy.logged(&["WARN", "limits.connections", "most=2"]);
    let waits = Request::get("/healthz").open(proxy.address());
    drop(silent);
    assert!(read_to_end(waits).starts_with("HTTP/1.1 200"));
}
