//! The CLI's own session: told in a header, and gone on with when a client sends that back.

use crate::support::{Machine, Request, chat, fixtures};

const SESSION: &str = "01a21eb9-01ec-7e92-bfb9-fd056ea14d53";

#[test]
fn a_session_is_told_and_gone_on_with() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    machine.write("AGENTS.md", "RULES\n");
    let recording = fixtures().join("codex/plain");
    machine.recording("codex", &["replay", "--speed", "100", recording.to_str().unwrap()]);
    let proxy = machine.serve();
    let first = proxy.complete(&chat("m", "hi"));
    assert_eq!(first.header("x-agent-session"), Some(SESSION));
    let (streamed, _events) = proxy.stream("m", "hi");
    assert_eq!(streamed.header("x-agent-session"), Some(SESSION));

    let again = Request::post("/v1/chat/completions", chat("m", "more").to_string());
    let second = proxy.send(&again.clone().header("x-agent-session", SESSION));
    assert_eq!(second.status, 200, "{second:?}");
    let seen = machine.seen("codex");
    let argv: Vec<&str> = seen["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(argv[argv.len() - 3..], ["resume", SESSION, "-"]);

    for wrong in ["--help", "a b", ""] {
        let answer = proxy.send(&again.clone().header("x-agent-session", wrong));
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["code"]), (400, &"validation".into()), "{wrong}");
    }
}
