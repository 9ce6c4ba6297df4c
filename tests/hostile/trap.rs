//! Plugins that fail in the middle of a stream, or too often: the client's answer, and the plugin's health.

use std::fs;

use serde_json::{Value, json};

use super::component::{Contract, component, text};
use super::{health, known};
use crate::support::{Machine, StreamItem, Streamed, chat, error, wait_for};

const MODEL: &str = "[models.m]\ndriver = \"m\"\nrepo = \".\"\nprogram = \"cli\"\nretries = 0\n";

/// A machine with a model whose plugin is from `fixtures/hostile`.
fn machine(name: &str, toml: &str) -> Machine {
    let machine = Machine::configured(toml);
    machine.put_plugin("m.wasm", component("m", &text(name), &Contract::ours()));
    machine
}

#[test]
fn after_a_plugin_fails_in_a_stream_the_rest_is_sent_as_the_cli_printed_it() {
    let machine = machine("trap-in-mid-stream", MODEL);
    let open = machine.name("open");
    machine.stand_in("cli", &["gate", &open, "first ", "second\n"]);
    let proxy = machine.serve();
    let (head, mut events) = proxy.stream("m", "hi");
    assert_eq!((head.status, head.header("x-agentbay-plugin")), (200, None));
    let started = events.by_ref().find(|item| matches!(item, StreamItem::Data(data) if data.contains("first ")));
    assert!(started.is_some());
    fs::write(open, "").unwrap();
    let comment = events.next();
    assert_eq!(
        comment,
        Some(StreamItem::Comment("the plugin m failed, what follows is as the CLI printed it".to_owned()))
    );
    let rest = Streamed::read(events);
    assert_eq!((rest.content.as_str(), rest.finish_reason.as_deref(), rest.done), ("second\n", Some("stop"), true));
    proxy.logged(&["WARN", "plugin failed", "plugin=m", "transcript.output"]);
}

#[test]
fn a_header_of_a_whole_answer_reports_that_its_plugin_failed() {
    let machine = machine("trap-in-exit", MODEL);
    machine.stand_in("cli", &["say", "all of it"]);
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("m", "hi"));
    assert_eq!((answer.status, answer.header("x-agentbay-plugin")), (200, Some("trapped")));
    assert_eq!(answer.content(), "all of it");
}

#[test]
fn after_a_plugin_fails_the_exit_code_decides_whether_the_run_failed() {
    let machine = machine("trap-in-exit", MODEL);
    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", "half"]);
    let answer = machine.serve().complete(&chat("m", "hi"));
    let mut expected = error("CLI failed: boom", "server_error", None, "unknown", Some("boom"));
    expected["error"]["partial"] = "half".into();
    assert_eq!((answer.status, answer.json()), (500, expected));
}

#[test]
fn a_plugin_that_fails_before_any_output_triggers_the_fallback_model() {
    let toml = "[defaults]\nrepo = \"../repo\"\n[models.m]\ndriver = \"m\"\nprogram = \"cli\"\nfallback = [\"echo\"]\n\
                [models.echo]\ndriver = \"echo\"\n";
    for name in ["trap-in-prepare", "trap-in-begin", "trap-in-output"] {
        let machine = machine(name, toml);
        machine.repo("repo");
        machine.stand_in("cli", &["say", "{\"type\":\"secret form\"}"]);
        let proxy = machine.serve();
        let answer = proxy.complete(&chat("m", "hi"));
        assert_eq!((answer.status, answer.header("x-agentbay-model")), (200, Some("echo")), "{name}");
        assert_eq!(answer.header("x-agentbay-plugin"), None);
    }
}

#[test]
fn a_plugin_that_fails_three_times_is_unhealthy_and_stays_in_use_until_another_version_is_loaded() {
    let machine = machine("trap-in-exit", MODEL);
    machine.stand_in("cli", &["say", "hello"]);
    let proxy = machine.serve();
    let healthy = json!({"state": "healthy", "traps": 0, "last_trap": null});
    assert_eq!(health(&known(&proxy), "m"), healthy);
    let states: Vec<Value> = (0..4)
        .map(|_| {
            assert_eq!(proxy.ask("m", "hi"), "hello");
            let mut health = health(&known(&proxy), "m");
            assert!(health["last_trap"]["time"].take().as_str().is_some_and(|time| time.ends_with('Z')), "{health}");
            health
        })
        .collect();
    let last = json!({"time": null, "call": "transcript.exit", "reason": "wasm trap: wasm `unreachable` instruction executed"});
    let after = |traps: u32, state: &str| json!({"state": state, "traps": traps, "last_trap": last});
    assert_eq!(states, [after(1, "healthy"), after(2, "healthy"), after(3, "unhealthy"), after(4, "unhealthy")]);
    proxy.logged(&["ERROR", "plugin is unhealthy", "plugin=m"]);
    let counted = proxy.get("/metrics").body;
    assert!(counted.contains("\nagentbay_plugin_traps_total{plugin=\"m\"} 4\n"), "{counted}");

    let list = || machine.run(&["plugin", "list"]).stdout;
    let failed = format!("\n  on {} it failed 4 times, the last time at ", proxy.address());
    wait_for("the failures to be in the status file", || list().contains(&failed));
    assert!(list().contains(" in `transcript.exit`: wasm trap: wasm `unreachable` instruction executed\n"));
    let in_servers = |state: Value| (state.clone(), vec![(json!(proxy.address().to_string()), state)]);
    assert_eq!(listed(&machine), in_servers("unhealthy".into()));

    machine.put_plugin("m.wasm", component("m", "", &Contract::ours()));
    proxy.logged(&["reloaded", "generation=2 "]);
    assert_eq!(health(&known(&proxy), "m"), healthy);
    let counted = proxy.get("/metrics").body;
    assert!(counted.contains("\nagentbay_plugin_changes_total 1\n"), "{counted}");
    assert!(counted.contains("\nagentbay_plugin_traps_total{plugin=\"m\"} 4\n"), "{counted}");
    wait_for("the new version in the status file", || listed(&machine) == in_servers("healthy".into()));
    proxy.stop();
    assert_eq!(listed(&machine), (Value::Null, vec![]));
}

/// The health of the plugin `m`: the worst, and that in each server.
fn listed(machine: &Machine) -> (Value, Vec<(Value, Value)>) {
    let list = machine.json(&["plugin", "list"]);
    let plugin = list["plugins"].as_array().unwrap().iter().find(|plugin| plugin["id"] == "m").unwrap().clone();
    let servers = plugin["servers"].as_array().unwrap().iter();
    let servers = servers.map(|server| (server["listen"].clone(), server["health"]["state"].clone())).collect();
    (plugin["health"].clone(), servers)
}

#[test]
fn a_version_that_only_a_server_has_is_listed_beside_the_files_of_the_folder() {
    // The server does not scan the folder again.
    let machine = machine("forged-done", &format!("[plugins]\nwatch = \"poll\"\npoll_interval = \"1h\"\n{MODEL}"));
    let proxy = machine.serve();
    wait_for("the plugin in the status file", || listed(&machine).0 == "healthy");
    let known = known(&proxy);
    let sha256 =
        known["data"].as_array().unwrap().iter().find(|plugin| plugin["id"] == "m").unwrap()["sha256"].as_str();
    let sha256 = sha256.unwrap();
    machine.put_plugin("m.wasm", "garbage");
    let kept = json!([{"id": "m", "version": "", "sha256": sha256, "server": proxy.address().to_string()}]);
    assert_eq!(machine.json(&["plugin", "list"])["kept"], kept);
    let list = || machine.run(&["plugin", "list"]).stdout;
    let row = format!("m                 -        {}  {}\n", &sha256[..12], proxy.address());
    assert!(list().ends_with(&format!("\nKEPT BY A SERVER  VERSION  SHA-256       SERVER\n{row}")), "{}", list());
    machine.put_plugin("m.wasm", component("m", "", &Contract::ours()));
    let other = format!("  the server on {} uses another one: , sha256 {sha256}\n", proxy.address());
    assert!(list().contains(&other), "{}", list());
}
