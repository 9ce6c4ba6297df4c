//! Plugins in the plugin folder: replaced while the server runs, refused with a reason, bounded by their limits.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use crate::support::{
    CLIS, ECHO, Machine, Proxy, Request, StreamItem, Streamed, built_plugin, chat, drivers, error, fixtures,
};

/// Waits until the server has scanned the folder `times` times, including the scan at its start.
fn reloaded(proxy: &Proxy, times: u32) {
    proxy.logged(&["reloaded", &format!("generation={times} ")]);
}

/// The plugins in use: id, version, programs and source.
fn listed(machine: &Machine) -> Vec<Value> {
    let list = machine.json(&["plugin", "list"]);
    let row = |plugin: &Value| json!([plugin["id"], plugin["version"], plugin["programs"], plugin["source"]]);
    list["plugins"].as_array().unwrap().iter().map(row).collect()
}

/// The files that are refused: file and reason.
fn refusals(machine: &Machine) -> Vec<(String, String)> {
    let list = machine.json(&["plugin", "list"]);
    let refused = list["refused"].as_array().unwrap().iter();
    refused.map(|one| (one["file"].as_str().unwrap().to_owned(), one["reason"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn embedded_plugins_are_listed() {
    let program = |id: &str| {
        let own = CLIS.iter().find(|(driver, _)| *driver == id).map(|(_, program)| *program);
        own.or((id == "echo").then_some("agentbay"))
    };
    let programs = |id: &String| program(id).into_iter().collect::<Vec<_>>();
    let expected: Vec<Value> = drivers().iter().map(|id| json!([id, "0.1.0", programs(id), "embedded"])).collect();
    let machine = Machine::new();
    assert_eq!(listed(&machine), expected);

    let run = machine.run(&["plugin", "list"]);
    let table: Vec<&str> = run.stdout.lines().collect();
    assert_eq!((run.code, run.stderr.as_str(), table.len()), (Some(0), "", expected.len() + 1));
    assert_eq!(table[0], "PLUGIN    VERSION  HEALTH  PROGRAMS  SHA-256       SOURCE");
    assert!(table[3].starts_with("codex     0.1.0    -       codex     "), "{}", run.stdout);
    assert!(table[3].ends_with("  embedded") && table[3].len() == table[0].len() + 2, "{}", run.stdout);
}

#[test]
fn a_component_replaces_an_embedded_plugin_while_the_server_runs() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    assert_eq!(proxy.ask("echo", "hi"), "hi");

    let file = machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
    reloaded(&proxy, 2);
    assert_eq!(proxy.ask("echo", "hi"), "HI");
    assert_eq!(proxy.streamed("echo", "hi").content, "HI");
    assert!(listed(&machine).contains(&json!(["echo", "9.9.9", ["agentbay"], file])));

    fs::remove_file(file).unwrap();
    reloaded(&proxy, 3);
    assert_eq!(proxy.ask("echo", "hi"), "hi");
}

#[test]
fn an_invalid_file_changes_nothing_and_is_reported() {
    let machine = Machine::configured(ECHO);
    machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
    let proxy = machine.serve();
    assert_eq!(proxy.ask("echo", "hi"), "HI");

    let file = machine.put_plugin("echo.wasm", "garbage");
    proxy.logged(&["ERROR", "plugin refused", file.to_str().unwrap(), "is not a valid WebAssembly component"]);
    reloaded(&proxy, 2);
    assert_eq!(proxy.ask("echo", "hi"), "HI");
    let refusals = refusals(&machine);
    assert!(
        matches!(&refusals[..], [(path, why)] if *path == file.display().to_string()
            && why.starts_with("is not a valid WebAssembly component: ")),
        "{refusals:?}"
    );

    machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
    reloaded(&proxy, 3);
    assert_eq!(proxy.ask("echo", "hi"), "HI");
}

#[test]
fn a_run_keeps_the_plugin_it_started_with() {
    let machine = Machine::configured("[models.echo]\ndriver = \"echo\"\nrepo = \".\"\nprogram = \"cli\"\n");
    let open = machine.path("open");
    machine.stand_in("cli", &["gate", open.to_str().unwrap(), "first ", "last"]);
    let proxy = machine.serve();
    let (head, mut events) = proxy.stream("echo", "hi");
    assert_eq!(head.status, 200);
    let begun = events.by_ref().find(|item| matches!(item, StreamItem::Data(data) if data.contains("first ")));
    assert!(begun.is_some());
    machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
    reloaded(&proxy, 2);
    fs::write(open, "").unwrap();
    assert_eq!(Streamed::read(events).content, "last");
    assert_eq!(proxy.ask("echo", "hi"), "FIRST LAST");
}

#[test]
fn no_request_is_lost_while_plugins_are_swapped() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    thread::scope(|scope| {
        let asking = scope.spawn(|| (0..40).map(|_| proxy.ask("echo", "hi")).collect::<Vec<_>>());
        machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
        reloaded(&proxy, 2);
        let answers = asking.join().unwrap();
        assert!(answers.iter().all(|answer| answer == "hi" || answer == "HI"), "{answers:?}");
        // The old one first, then the new one.
        assert!(answers.is_sorted_by(|before, after| before >= after), "{answers:?}");
    });
}

#[test]
fn two_files_with_one_id_are_both_refused() {
    let machine = Machine::configured(ECHO);
    let first = machine.put_plugin("a.wasm", built_plugin("loud-echo.wasm"));
    let proxy = machine.serve();
    assert_eq!(proxy.ask("echo", "hi"), "HI");

    let echo = fs::read(fixtures().parent().unwrap().join("plugins/prebuilt/echo.wasm")).unwrap();
    let second = machine.put_plugin("b.wasm", echo);
    reloaded(&proxy, 2);
    // Like at a start, where the order of the files is unknown.
    assert_eq!(proxy.ask("echo", "hi"), "hi");
    let twice = |other: &str| {
        format!("has the id echo, and so has {other}: remove one of the two, or rename the right one to echo.wasm")
    };
    let (first, second) = (first.to_str().unwrap().to_owned(), second.to_str().unwrap().to_owned());
    let expected = [(first.clone(), twice(&second)), (second.clone(), twice(&first))];
    assert_eq!(refusals(&machine), expected);
    for (file, reason) in &expected {
        proxy.logged(&["ERROR", "plugin refused", file, reason]);
    }

    fs::remove_file(first).unwrap();
    reloaded(&proxy, 3);
    assert_eq!(proxy.ask("echo", "hi"), "hi");
}

#[test]
fn a_new_plugin_adds_its_driver_while_the_server_runs() {
    let machine = Machine::configured("[models.m]\ndriver = \"stranger\"\nrepo = \".\"\nprogram = \"my-stranger\"\n");
    machine.recording("my-stranger", &["say", "hello"]);
    let proxy = machine.serve();
    assert_eq!(proxy.complete(&chat("m", "hi")).status, 500);
    machine.put_plugin("stranger.wasm", built_plugin("stranger.wasm"));
    reloaded(&proxy, 2);
    assert_eq!(proxy.ask("m", "hi"), "hello");
    assert_eq!(machine.seen("my-stranger")["argv"], Value::from(vec!["--hello"]));
}

#[test]
fn a_program_without_a_grant_is_not_started() {
    let machine = Machine::configured("[models.m]\ndriver = \"stranger\"\nrepo = \".\"\n");
    machine.put_plugin("stranger.wasm", built_plugin("stranger.wasm"));
    machine.recording("stranger", &["say", "hello"]);
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("m", "hi"));
    let message = "the driver `stranger` may not start `stranger`: to allow it, write `programs = [\"stranger\"]` \
                   into [plugins.stranger] of proxy.toml, or `program = \"stranger\"` into [models.m]";
    let expected = error(message, "server_error", None, "configuration", None);
    assert_eq!((answer.status, answer.json()), (500, expected));
    assert!(!machine.path("stranger.json").exists());
}

#[test]
fn a_component_with_an_import_is_refused_with_the_name_of_the_import() {
    let machine = Machine::new();
    let component = r#"(component (import "host:files/read@1.0.0" (instance (export "get" (func)))))"#;
    let file = machine.put_plugin("greedy.wasm", wat::parse_str(component).unwrap());
    let reason = "imports `host:files/read@1.0.0`: a plugin imports nothing \
                  (build it for wasm32-unknown-unknown, without WASI)";
    assert_eq!(refusals(&machine), [(file.display().to_string(), reason.to_owned())]);
}

#[test]
fn a_component_without_the_contract_or_with_another_version_is_refused() {
    let machine = Machine::new();
    let without = machine.put_plugin("a.wasm", wat::parse_str("(component)").unwrap());
    let newer = r#"(component (instance $i) (export "agentbay:plugin/agent@0.9.0" (instance $i)))"#;
    let newer = machine.put_plugin("b.wasm", wat::parse_str(newer).unwrap());
    let expected = [
        (without, "does not export `agentbay:plugin/agent`: it was not built against the contract in wit/"),
        (newer, "was built against contract 0.9.0, and this agentbay supports 0.1: agentbay must be updated"),
    ];
    assert_eq!(refusals(&machine), expected.map(|(file, why)| (file.display().to_string(), why.to_owned())));
}

#[test]
fn a_file_over_the_limit_is_refused() {
    let machine = Machine::configured(&format!("{ECHO}[limits]\nplugin_file = \"512 KiB\"\n"));
    let file = machine.put_plugin("large.wasm", vec![0; 512 * 1024 + 1]);
    let reason = "is larger than 524288 bytes: raise `limits.plugin_file` in proxy.toml if that is intended";
    assert_eq!(refusals(&machine), [(file.display().to_string(), reason.to_owned())]);
}

#[test]
fn a_plugin_that_never_answers_is_stopped_and_refused() {
    let machine = Machine::configured(&format!("{ECHO}[plugins.endless.limits]\ncall_cpu = \"50ms\"\n"));
    let file = machine.put_plugin("endless.wasm", built_plugin("endless.wasm"));
    let reason = "the plugin failed in `describe`: it used up the time of one call (`limits.plugin_call_cpu`)";
    assert_eq!(refusals(&machine), [(file.display().to_string(), reason.to_owned())]);
    // Other requests are served meanwhile.
    let proxy = machine.serve();
    assert_eq!(proxy.ask("echo", "hi"), "hi");
}

#[test]
fn a_memory_limit_too_small_for_a_built_in_plugin_is_reported_for_its_models() {
    let machine = Machine::configured(&format!("{ECHO}retries = 0\n[limits]\nplugin_memory = \"64 KiB\"\n"));
    let is_it = |text: &str| text.contains("more than `limits.plugin_memory` allows");
    let faults = machine.faults();
    assert!(matches!(&faults[..], [fault] if fault.starts_with("models.echo: ") && is_it(fault)), "{faults:?}");
    let proxy = machine.serve();
    assert!(is_it(&proxy.logged(&["a model cannot run: models.echo"])));
    let answer = proxy.complete(&chat("echo", "hi"));
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(answer.status == 500 && is_it(&message), "{message}");
}

/// A machine with a limit, and a model whose plugin keeps the CLI's output and returns it at the end.
fn keeping(limit: &str, cli: &str) -> Machine {
    let model = "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\nretries = 0\n";
    let machine = Machine::configured(&format!("{ECHO}{model}[limits]\n{limit}\n"));
    machine.script("cli", cli);
    machine
}

/// The message of a run that its plugin made fail, while other runs continue.
fn failed(machine: &Machine) -> String {
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("m", "hi"));
    assert_eq!((answer.status, proxy.ask("echo", "hi").as_str()), (500, "hi"));
    answer.json()["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_plugin_that_needs_too_much_memory_in_a_run_ends_that_run_only() {
    let message = failed(&keeping("plugin_memory = \"2 MiB\"", "seq 1000000"));
    assert!(message.contains("more than `limits.plugin_memory` allows"), "{message}");
}

#[test]
fn a_plugin_that_returns_too_much_at_once_ends_that_run_only() {
    let message = failed(&keeping("plugin_result = \"16 KiB\"", "seq 10000"));
    assert!(message.contains("`limits.plugin_result`"), "{message}");
}

#[test]
fn a_plugin_that_exhausts_the_cpu_time_of_a_run_ends_that_run_only() {
    let machine = Machine::configured(&format!(
        "{ECHO}[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\n\
         [plugins.generic.limits]\nrun_cpu = \"10ms\"\n"
    ));
    let generic = fixtures().parent().unwrap().join("plugins/prebuilt/generic.wasm");
    machine.put_plugin("generic.wasm", fs::read(generic).unwrap());
    machine.script("cli", "seq 4000000");
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("m", "hi"));
    let error = &answer.json()["error"];
    let message = error["message"].as_str().unwrap();
    assert!(answer.status == 500 && message.contains("`limits.plugin_run_cpu`"), "{message}");
    assert_eq!(proxy.ask("echo", "hi"), "hi");
}

#[test]
fn plugins_are_listed_with_their_description_and_refused_files_with_their_reason() {
    let machine = Machine::configured(ECHO);
    let file = machine.put_plugin("garbage.wasm", "garbage");
    let proxy = machine.serve();
    let actual = proxy.get("/v1/plugins").json();
    let echo = actual["data"].as_array().unwrap().iter().find(|plugin| plugin["id"] == "echo").unwrap();
    let health = serde_json::json!({"state": "healthy", "traps": 0, "last_trap": null});
    let keys = ["object", "contract", "source", "programs", "health"].map(|key| echo[key].clone());
    let programs = Value::from(vec!["agentbay"]);
    assert_eq!(keys, ["plugin".into(), "0.1.0".into(), "embedded".into(), programs, health]);
    let refused = actual["refused"].as_array().unwrap();
    assert!(
        matches!(&refused[..], [one] if one["file"] == file.to_str().unwrap()
            && one["reason"].as_str().unwrap().starts_with("is not a valid WebAssembly component: ")),
        "{refused:?}"
    );
}

#[test]
fn events_of_plugins_are_counted_in_the_metrics() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    assert_eq!(proxy.ask("echo", "hi"), "hi");
    let unknown = proxy.complete(&chat("nobody", "hi"));
    assert_eq!(unknown.status, 400);
    let counted = proxy.get("/metrics");
    assert_eq!(counted.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        "agentbay_runs_started_total{model=\"echo\",driver=\"echo\"} 1",
        "agentbay_runs_ended_total{model=\"echo\",driver=\"echo\",outcome=\"finished\"} 1",
        "agentbay_http_requests_total{route=\"/v1/chat/completions\",status=\"200\"} 1",
        "agentbay_http_requests_total{route=\"/v1/chat/completions\",status=\"400\"} 1",
        "agentbay_plugins_loaded 11",
        "agentbay_plugins_refused 0",
        "agentbay_plugin_changes_total 0",
    ] {
        assert!(counted.body.lines().any(|other| other == line), "{line} is not in\n{}", counted.body);
    }
    let open = Request::get("/metrics").header("accept", "application/openmetrics-text; version=1.0.0");
    let open = proxy.send(&open);
    assert_eq!(open.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    assert!(open.body.ends_with("# EOF\n"), "{}", open.body);
}

#[test]
fn no_byte_of_a_refused_file_is_shown() {
    let machine = Machine::configured("[models.echo]\ndriver = \"echo\"\nrepo = \".\"\n");
    let secret = machine.path("secret");
    fs::write(&secret, "root:$6$salt$hash:19000:0:99999:7:::\n").unwrap();
    let link = machine.plugin("x.wasm");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    let proxy = machine.serve();
    let reason = "is not a valid WebAssembly component: it does not start like WebAssembly";
    assert_eq!(proxy.get("/v1/plugins").json()["refused"], json!([{"file": link, "reason": reason}]));
    let log = proxy.logged(&["ERROR", "plugin refused"]);
    assert!(!log.contains("root") && !log.contains("0x72"), "{log}");
}
