//! Deltas while the CLI still runs, and the end of all processes of a run in every way that a run can end.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Events, Machine, Proxy, Request, Streamed, chat, error, is_alive, wait_for, with_time_enough};

/// A model whose output is passed on as it arrives.
const CONFIG: &str = "
[models.m]
driver = \"generic\"
repo = \".\"
program = \"cli\"
options = { answer = \"whole\" }
";

/// A machine with a CLI that never ends, and the files that its two processes lock.
fn hanging(config: &str) -> (Machine, [PathBuf; 2]) {
    let machine = Machine::configured(config);
    let processes = machine.hanging("cli", "I am here");
    (machine, processes)
}

/// Starts a run of it, and reads until its first output.
fn started(proxy: &Proxy, processes: &[PathBuf; 2]) -> Events {
    let (head, mut events) = proxy.stream("m", "hi");
    assert_eq!(head.status, 200, "{head:?}");
    assert_eq!(delta(&mut events), "");
    assert_eq!(delta(&mut events), "I am here");
    assert!(processes.iter().all(|file| is_alive(file)));
    events
}

/// The text of the next chunk.
fn delta(events: &mut Events) -> String {
    let chunk: Value = serde_json::from_str(&events.data().expect("a chunk")).unwrap();
    chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_else(|| panic!("no text in {chunk}")).to_owned()
}

fn wait_until_gone(processes: &[PathBuf; 2]) {
    for file in processes {
        wait_for(&format!("the end of {}", file.display()), || !is_alive(file));
    }
}

#[test]
fn an_unfinished_line_is_held_back_until_the_limit_or_its_end() {
    let machine = Machine::configured(
        &(CONFIG.to_owned() + "[limits]\npartial_line_timeout = \"1h\"\nfirst_event_timeout = 0\n"),
    );
    let waits = "until [ -e ../open ]; do sleep 0.01; done";
    machine.script("cli", &format!("cat >/dev/null; printf 'a '; echo > ../begun; {waits}; echo line; echo end"));
    let proxy = machine.serve();
    let (_head, mut events) = proxy.stream("m", "hi");
    wait_for("the start of the line", || machine.path("begun").exists());
    fs::write(machine.path("open"), "").unwrap();
    let first = delta(&mut events) + &delta(&mut events);
    assert!(first.starts_with("a line"), "{first:?}");
    assert_eq!(first + &Streamed::read(events).content, "a line\nend");
}

#[test]
fn a_delta_arrives_while_the_cli_still_runs() {
    let machine = Machine::configured(CONFIG);
    machine.stand_in("cli", &["gate", &machine.name("open"), "first ", "and last"]);
    let proxy = machine.serve();
    let (_head, mut events) = proxy.stream("m", "hi");
    assert_eq!(delta(&mut events), "");
    assert_eq!(delta(&mut events), "first ");
    // Only now does the CLI continue.
    fs::write(machine.path("open"), "").unwrap();
    let rest = Streamed::read(events);
    assert_eq!((rest.content.as_str(), rest.finish_reason.as_deref(), rest.done), ("and last", Some("stop"), true));
}

#[test]
fn a_character_that_is_cut_in_two_arrives_whole() {
    let machine = Machine::configured(CONFIG);
    let open = machine.name("open");
    machine.script("cli", &format!("printf 'caf\\303'; until [ -e {open} ]; do sleep 0.01; done; printf '\\251'"));
    let proxy = machine.serve();
    let (_head, mut events) = proxy.stream("m", "hi");
    assert_eq!((delta(&mut events), delta(&mut events)), (String::new(), "caf".to_owned()));
    fs::write(open, "").unwrap();
    assert_eq!(Streamed::read(events).content, "é");
}

#[test]
pub(crate) fn a_client_that_disconnects_ends_the_cli_and_its_descendants() {
    let (machine, processes) = hanging(CONFIG);
    let proxy = machine.serve();
    drop(started(&proxy, &processes));
    wait_until_gone(&processes);
    proxy.logged(&["run failed", "the run was cancelled"]);
}

#[test]
pub(crate) fn a_client_that_disconnects_before_a_whole_answer_ends_the_cli_too() {
    let (machine, processes) = hanging(CONFIG);
    let proxy = machine.serve();
    let connection = Request::complete(&chat("m", "hi")).open(proxy.address());
    wait_for("the CLI to start", || processes.iter().all(|file| file.exists()));
    drop(connection);
    wait_until_gone(&processes);
}

fn took_longer_than(timeout: &str) -> String {
    format!("the run took longer than {timeout} and was ended: raise `timeout` of the model if it needs more")
}

#[test]
fn a_run_that_takes_too_long_times_out_and_is_ended() {
    with_time_enough(|timeout| {
        let (machine, processes) = hanging(&format!("{CONFIG}timeout = \"{timeout}\"\n"));
        let answer = machine.serve().complete(&chat("m", "hi"));
        let message = took_longer_than(timeout);
        let mut expected = error(&message, "server_error", None, "timeout", None);
        let has_spoken = answer.json()["error"]["partial"] == "I am here";
        if has_spoken {
            expected["error"]["partial"] = "I am here".into();
            wait_until_gone(&processes);
        }
        assert_eq!((answer.status, answer.json()), (504, expected));
        has_spoken.then_some(())
    });
}

#[test]
fn a_stream_that_takes_too_long_ends_with_an_error() {
    with_time_enough(|timeout| {
        let (machine, processes) =
            hanging(&format!("{CONFIG}timeout = \"{timeout}\"\n[limits]\nfirst_event_timeout = 0\n"));
        let proxy = machine.serve();
        let (head, events) = proxy.stream("m", "hi");
        let streamed = Streamed::read(events);
        let has_spoken = streamed.content == "I am here";
        let content = if has_spoken { "I am here" } else { "" }.to_owned();
        let error = error(&took_longer_than(timeout), "server_error", None, "timeout", None);
        assert_eq!((head.status, streamed), (200, Streamed { content, error: Some(error), ..Streamed::default() }));
        has_spoken.then(|| wait_until_gone(&processes))
    });
}

#[test]
fn a_stop_of_the_proxy_ends_its_runs_and_leaves_nothing_behind() {
    let (machine, processes) = hanging(&(CONFIG.to_owned() + "[server]\nshutdown_timeout = 0\n"));
    let proxy = machine.serve();
    let events = started(&proxy, &processes);
    assert_eq!(proxy.stop().code(), Some(0));
    assert!(!processes.iter().any(|file| is_alive(file)));
    let error = error("the proxy is stopping", "server_error", None, "server", None);
    assert_eq!(Streamed::read(events), Streamed { error: Some(error), ..Streamed::default() });
}

#[test]
fn processes_that_a_cli_leaves_behind_end_with_its_turn() {
    let machine = Machine::configured(&(CONFIG.to_owned() + "[limits]\nexit_grace = \"100ms\"\n"));
    let processes = machine.hanging("hang", "");
    let there = processes[1].display();
    machine.script("cli", &format!("hang & until [ -e {there} ]; do sleep 0.01; done; printf done"));
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", "hi"), "done");
    wait_until_gone(&processes);
}

/// The lines of Codex for a message, as a command that prints them.
fn codex_says(text: &str) -> String {
    let item = serde_json::json!({"id": text, "type": "agent_message", "text": text});
    format!("printf '%s\\n' '{}'", serde_json::json!({"type": "item.completed", "item": item}))
}

#[test]
fn a_run_continues_until_its_plugin_reports_the_end_and_late_output_counts() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    let waits = "until [ -e ../open ]; do sleep 0.01; done";
    let (first, late) = (codex_says("first"), codex_says("late"));
    machine
        .script("codex", &format!("cat >/dev/null; {first}; {waits}; {late}; echo '{{\"type\":\"turn.completed\"}}'"));
    let proxy = machine.serve();
    let (_head, mut events) = proxy.stream("m", "hi");
    assert_eq!([delta(&mut events), delta(&mut events)], ["", "first"]);
    fs::write(machine.path("open"), "").unwrap();
    let rest = Streamed::read(events);
    assert_eq!((rest.content.trim(), rest.finish_reason.as_deref(), rest.done), ("late", Some("stop"), true));
}

#[test]
fn work_that_never_ends_is_stopped_by_the_timeout_with_the_partial_answer() {
    with_time_enough(|timeout| {
        let machine = Machine::configured(&format!(
            "[models.m]\ndriver = \"codex\"\nrepo = \".\"\ntimeout = \"{timeout}\"\nretries = 0\n[limits]\nexit_grace = \"100ms\"\n"
        ));
        let working = r#"echo '{"type":"item.updated","item":{"id":"t","type":"todo_list","items":[]}}'"#;
        machine.script(
            "codex",
            &format!("cat >/dev/null; {}; while :; do {working}; sleep 0.02; done", codex_says("half")),
        );
        let answer = machine.serve().complete(&chat("m", "hi"));
        let mut expected = error(&took_longer_than(timeout), "server_error", None, "timeout", None);
        let has_spoken = answer.json()["error"]["partial"] == "half";
        if has_spoken {
            expected["error"]["partial"] = "half".into();
        }
        assert_eq!((answer.status, answer.json()), (504, expected));
        has_spoken.then_some(())
    });
}

#[test]
fn a_client_that_does_not_read_does_not_block_the_cancellation_of_its_run() {
    let machine = Machine::configured(&(CONFIG.to_owned() + "[limits]\nanswer_buffer = \"64 KiB\"\n"));
    machine.script("cli", "cat >/dev/null; echo $$ > ../started; while :; do echo 'a line that nobody reads'; done");
    let proxy = machine.serve();
    let mut body = chat("m", "hi");
    body["stream"] = true.into();
    let client = Request::post("/v1/chat/completions", body.to_string()).open(proxy.address());
    let started = machine.path("started");
    wait_for("the CLI to start", || fs::read_to_string(&started).is_ok_and(|pid| pid.ends_with('\n')));
    let cli = format!("/proc/{}", fs::read_to_string(started).unwrap().trim());
    wait_for("the CLI to be held back", || fs::read_to_string(format!("{cli}/stat")).unwrap().contains(") S "));
    let run = proxy.runs()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(proxy.send(&Request::get(&format!("/v1/runs/{run}")).method("DELETE")).status, 202);
    proxy.wait_until_idle();
    assert!(!fs::exists(cli).unwrap());
    drop(client);
}
