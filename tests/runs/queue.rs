//! Requests that run, wait or are refused, and runs that are listed, cancelled and stopped.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Machine, Proxy, Request, StreamItem, Streamed, chat, error, wait_for};

/// Two models whose CLI runs until the file `open` exists, and appends its name to `started` at each start.
fn gated(limits: &str) -> Machine {
    let model = |name: &str| {
        let repo = "../repo";
        format!(
            "[models.{name}]\ndriver = \"generic\"\nrepo = \"{repo}-{name}\"\nprogram = \"{name}\"\n\
             options = {{ answer = \"whole\" }}\n"
        )
    };
    let machine = Machine::configured(&format!("{}{}{limits}", model("a"), model("b")));
    for name in ["a", "b"] {
        machine.repo(&format!("repo-{name}"));
        let (started, open) = (machine.name("started"), machine.name("open"));
        let wait =
            format!("printf {name} >> {started}; printf go; until [ -e {open} ]; do sleep 0.01; done; printf ne");
        machine.script(name, &wait);
    }
    machine
}

fn started(machine: &Machine) -> String {
    fs::read_to_string(machine.path("started")).unwrap_or_default()
}

/// Model and state of the active runs.
fn runs(proxy: &Proxy) -> Vec<(String, String)> {
    let list = proxy.get("/v1/runs").json();
    let text = |run: &Value, key: &str| run[key].as_str().unwrap().to_owned();
    list["data"].as_array().unwrap().iter().map(|run| (text(run, "model"), text(run, "state"))).collect()
}

fn wait_for_runs(proxy: &Proxy, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(model, state)| ((*model).to_owned(), (*state).to_owned())).collect();
    wait_for(&format!("{expected:?}"), || runs(proxy) == expected);
}

fn open(proxy: &Proxy, model: &str) -> std::net::TcpStream {
    Request::complete(&chat(model, "hi")).open(proxy.address())
}

#[test]
fn a_repository_has_one_run_at_a_time_while_another_repository_has_its_own() {
    let machine = gated("");
    let proxy = machine.serve();
    let _first = open(&proxy, "a");
    // A run is listed as running before its CLI starts.
    wait_for("the first to start", || started(&machine) == "a");
    let _second = open(&proxy, "a");
    wait_for_runs(&proxy, &[("a", "running"), ("a", "queued")]);
    let _other = open(&proxy, "b");
    wait_for_runs(&proxy, &[("a", "running"), ("a", "queued"), ("b", "running")]);
    wait_for("both to start", || started(&machine) == "ab");
    fs::write(machine.path("open"), "").unwrap();
    wait_for_runs(&proxy, &[]);
    assert_eq!(started(&machine), "aba");
}

#[test]
fn a_full_queue_is_answered_with_429_and_retry_after() {
    let machine = gated("[limits]\nruns = 1\nqueue = 0\n");
    let proxy = machine.serve();
    let _first = open(&proxy, "a");
    wait_for_runs(&proxy, &[("a", "running")]);
    let refused = proxy.complete(&chat("b", "hi"));
    let message = "the queue is full (0 waiting): try again later, or raise `limits.queue`";
    assert_eq!(refused.json(), error(message, "rate_limit_error", None, "rate_limit", None));
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("10")));
    assert_eq!(refused.header("x-should-retry"), None);
}

#[test]
fn a_request_waits_no_longer_than_the_limit() {
    let machine = gated("[limits]\nruns = 1\nqueue_wait = \"50ms\"\n");
    let proxy = machine.serve();
    let _first = open(&proxy, "a");
    wait_for_runs(&proxy, &[("a", "running")]);
    let refused = proxy.complete(&chat("b", "hi"));
    let message = "no other run ended within 50ms: try again later, or raise `limits.queue_wait`";
    assert_eq!(refused.json(), error(message, "rate_limit_error", None, "rate_limit", None));
}

#[test]
fn a_model_has_a_limit_of_its_own() {
    let machine = gated("[defaults]\nmax_runs = 1\nmax_repo_runs = 9\n");
    let proxy = machine.serve();
    let _first = open(&proxy, "a");
    wait_for_runs(&proxy, &[("a", "running")]);
    let _second = open(&proxy, "a");
    wait_for_runs(&proxy, &[("a", "running"), ("a", "queued")]);
}

#[test]
pub(crate) fn case_061_a_client_that_disconnects_while_it_waits_never_runs_and_frees_its_slot() {
    let machine = gated("[limits]\nkeep_alive = \"20ms\"\nfirst_event_timeout = 0\n");
    let proxy = machine.serve();
    let first = open(&proxy, "a");
    wait_for("the first to start", || started(&machine) == "a");
    let waiting = open(&proxy, "a");
    let (head, mut streamed) = proxy.stream("a", "hi");
    wait_for_runs(&proxy, &[("a", "running"), ("a", "queued"), ("a", "queued")]);
    assert_eq!(head.status, 200);
    assert!(streamed.any(|item| item == StreamItem::Comment("working".to_owned())), "signs of life while it waits");
    drop((waiting, streamed));
    wait_for_runs(&proxy, &[("a", "running")]);
    drop(first);
    wait_for_runs(&proxy, &[]);
    assert_eq!(started(&machine), "a");
}

#[test]
pub(crate) fn a_run_can_be_inspected_and_cancelled() {
    let machine = gated("");
    let proxy = machine.serve();
    let (_head, events) = proxy.stream("a", "hi");
    let run = proxy.runs()[0].clone();
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    let mut expected = run.clone();
    let since = expected["created_at"].take();
    assert!(since.as_str().unwrap().ends_with('Z'), "{since}");
    let shown = json!({
        "id": run["id"], "object": "run", "model": "a", "current_model": "a", "driver": "generic", "state": "running",
        "created_at": null, "failed_attempts": [],
    });
    assert_eq!(expected, shown);
    assert_eq!(proxy.get(&path).json(), run);

    let cancelled = proxy.send(&Request::get(&path).method("DELETE"));
    assert_eq!((cancelled.status, cancelled.json()), (202, run));
    let rest = Streamed::read(events);
    let cancelled = error("the run was cancelled", "server_error", None, "unknown", None);
    assert_eq!((rest.content.as_str(), rest.error), ("go", Some(cancelled)));
    wait_for_runs(&proxy, &[]);

    let id = path.rsplit('/').next().unwrap();
    for (path, name) in [(path.as_str(), id), ("/v1/runs/..%2fx", "../x")] {
        let message = format!("no active run `{name}`: GET /v1/runs lists the active runs");
        let expected = error(&message, "invalid_request_error", None, "not_found", None);
        let answer = proxy.send(&Request::get(path).method("DELETE"));
        assert_eq!((answer.status, answer.json()), (404, expected));
    }
}

#[test]
fn a_stopping_server_lets_runs_end_and_starts_no_others() {
    let machine = gated("");
    let proxy = machine.serve();
    let (_head, events) = proxy.stream("a", "hi");
    proxy.signal(Signal::TERM);
    wait_for("it to stop", || proxy.get("/readyz").status == 503);
    assert_eq!(proxy.get("/readyz").body, "stopping\n");
    let refused = proxy.complete(&chat("b", "hi"));
    let message = "the proxy is stopping and takes no new requests: try again when it has been started again";
    assert_eq!((refused.status, refused.json()), (503, error(message, "server_error", None, "stopping", None)));
    fs::write(machine.path("open"), "").unwrap();
    let rest = Streamed::read(events);
    assert_eq!((rest.content.as_str(), rest.done), ("gone", true));
    assert_eq!(proxy.ended().code(), Some(0));
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let machine = gated("");
    let proxy = machine.serve();
    let (_head, _events) = proxy.stream("a", "hi");
    proxy.signal(Signal::TERM);
    proxy.logged(&["stopping", "runs=1"]);
    proxy.signal(Signal::INT);
    assert_eq!(proxy.ended().code(), Some(1));
}

#[test]
fn sighup_reloads_the_settings() {
    let machine = gated("");
    let proxy = machine.serve();
    proxy.signal(Signal::HUP);
    proxy.logged(&["reloaded", "generation=2"]);
    assert_eq!(proxy.models(), ["a", "b"]);
}
