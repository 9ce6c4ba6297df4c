//! Connections on which nothing is said take up no more than they may, and not for long.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::{Machine, Proxy, Request};

fn serving(limits: &str) -> Proxy {
    let machine = Machine::configured(&format!("[models.echo]\ndriver = \"echo\"\nrepo = \".\"\n[limits]\n{limits}\n"));
    machine.serve()
}

/// A connection on which this has been said.
fn said(proxy: &Proxy, text: &str) -> TcpStream {
    let mut connection = TcpStream::connect(proxy.address()).unwrap();
    connection.write_all(text.as_bytes()).unwrap();
    connection
}

/// What comes on a connection before it is closed.
fn heard(mut connection: TcpStream) -> String {
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    text
}

#[test]
pub(crate) fn a_connection_that_does_not_say_in_time_what_it_wants_is_closed() {
    let proxy = serving("request_head = \"100ms\"");
    for text in ["", "GET /healthz HT", "GET /healthz HTTP/1.1\r\nhost: x\r\n"] {
        assert!(!heard(said(&proxy, text)).starts_with("HTTP/1.1 200"), "{text:?}");
    }
    // One that has been answered, and does not ask again.
    let kept = said(&proxy, &format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", proxy.address()));
    assert!(heard(kept).starts_with("HTTP/1.1 200"));
}

#[test]
pub(crate) fn more_connections_than_there_may_be_wait_for_others_to_end() {
    let proxy = serving("connections = 2\nrequest_head = \"10m\"");
    let silent = [said(&proxy, ""), said(&proxy, "GET / HT")];
    proxy.logged(&["WARN", "limits.connections", "most=2"]);
    let waits = Request::get("/healthz").open(proxy.address());
    drop(silent);
    assert!(heard(waits).starts_with("HTTP/1.1 200"));
}
