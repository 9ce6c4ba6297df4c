//! The CLI's own session: returned in a header, and resumed when a client sends it back.

use std::fs;
use std::net::TcpStream;

use serde_json::json;

use crate::support::{Machine, Proxy, Request, chat, fixtures, wait_for};

const SESSION: &str = "01a21eb9-01ec-7e92-bfb9-fd056ea14d53";

#[test]
fn a_session_is_returned_and_resumed() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    machine.write("AGENTS.md", "RULES\n");
    let recording = fixtures().join("codex/plain");
    machine.recording("codex", &["replay", "--speed", "100", recording.to_str().unwrap()]);
    let proxy = machine.serve();
    let first = proxy.complete(&chat("m", "hi"));
    assert_eq!(first.header("x-agent-session"), Some(SESSION));
    let (streamed, _events) = proxy.stream("m", "hi");
    assert_eq!(streamed.header("x-agent-session"), Some(SESSION));

    let again = Request::complete(&chat("m", "more"));
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

/// The states of the runs, in the order of their creation.
fn states(proxy: &Proxy) -> Vec<String> {
    let list = proxy.get("/v1/runs").json();
    list["data"].as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap().to_owned()).collect()
}

fn open(proxy: &Proxy, session: Option<&str>) -> TcpStream {
    let request = Request::complete(&chat("m", "hi"));
    session.into_iter().fold(request, |request, id| request.header("x-agent-session", id)).open(proxy.address())
}

/// Both the requested session and the one that the CLI reports are locked.
#[test]
fn t2_30_two_requests_for_one_session_run_one_after_the_other() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\nmax_repo_runs = 4\n");
    let gate = machine.name("open");
    let begins = json!({"type": "thread.started", "thread_id": "s-10"});
    let message = json!({"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "ok"}});
    let done = json!({"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let waits = format!("until [ -e {gate} ]; do sleep 0.01; done");
    machine.script("codex", &format!("echo '{begins}'; echo '{message}'; {waits}; echo '{done}'"));
    let proxy = machine.serve();

    let _asked = open(&proxy, Some("s-9"));
    wait_for("the first to run", || states(&proxy) == ["running"]);
    let _waits = open(&proxy, Some("s-9"));
    wait_for("the second to wait", || states(&proxy) == ["running", "queued"]);
    let _other = open(&proxy, Some("s-8"));
    let of_three = ["running", "queued", "running"];
    wait_for("the third to run", || states(&proxy) == of_three);

    let (answer, _events) = proxy.stream("m", "hi");
    assert_eq!(answer.header("x-agent-session"), Some("s-10"));
    let _resumes = open(&proxy, Some("s-10"));
    wait_for("the resumed one to wait", || states(&proxy) == [&of_three[..], &["running", "queued"]].concat());
    fs::write(machine.path("open"), "").unwrap();
    wait_for("all to end", || states(&proxy).is_empty());
}
