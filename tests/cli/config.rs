//! Settings: the defaults without a file, the report of faults, and changes while the server runs.

use std::fs;
use std::thread;

use serde_json::json;

use crate::support::{ECHO, Machine, Run, chat, wait_for};

#[test]
fn without_a_file_echo_and_the_clis_on_path_are_models_of_this_folder() {
    let machine = Machine::new();
    machine.write("AGENTS.md", "RULES\n");
    let turn = r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"codex"}}"#;
    machine.recording("codex", &["say", &format!("{turn}\n{{\"type\":\"turn.completed\"}}\n")]);
    let proxy = machine.serve();
    assert_eq!(proxy.models(), ["codex", "echo"]);
    assert_eq!(proxy.ask("echo", "hi"), "RULES\n\n--- USER TASK ---\nhi");
    assert_eq!(proxy.ask("codex", "hi"), "codex");
    assert_eq!(machine.seen("codex")["cwd"], machine.name("work"));
}

#[test]
fn paths_are_relative_to_the_settings_file() {
    let machine = Machine::new();
    machine.repo("conf").commit("AGENTS.md", "RULES\n");
    fs::write(machine.path("conf/mine.toml"), ECHO).unwrap();
    let proxy = machine.serve_with(&["--config", "../conf/mine.toml", "--listen", "127.0.0.1:0"]);
    assert_eq!(proxy.ask("echo", "hi"), "RULES\n\n--- USER TASK ---\nhi");
}

#[test]
fn the_address_can_be_set_in_the_file() {
    let machine = Machine::configured(&format!("[server]\nlisten = \"127.0.0.1:0\"\n{ECHO}"));
    let proxy = machine.serve_with(&[]);
    assert!(proxy.address().ip().is_loopback());
    assert_eq!(proxy.ask("echo", "hi"), "hi");
}

#[test]
fn a_model_that_is_added_appears_without_a_restart() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    assert_eq!(proxy.complete(&chat("second", "hi")).status, 400);
    machine.write("proxy.toml", format!("{ECHO}[models.second]\ndriver = \"echo\"\nrepo = \".\"\n"));
    proxy.logged(&["reloaded", "models=2"]);
    assert_eq!(proxy.ask("second", "hi"), "hi");
    assert_eq!(proxy.models(), ["echo", "second"]);
}

#[test]
fn a_faulty_edit_changes_nothing_and_is_logged_with_file_line_and_key() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    machine.write("proxy.toml", "[models.new]\ndriver = \"echo\"\nrepo = 3\n[models.echo]\ntimeout = \"soon\"\n");
    proxy.logged(&["reloaded", "generation=2"]);
    proxy.logged(&["the configuration stays as it was"]);
    proxy.logged(&["proxy.toml:3: models.new.repo:"]);
    proxy.logged(&["proxy.toml:5: models.echo.timeout:", "\"soon\""]);
    assert_eq!(proxy.models(), ["echo"]);
    assert_eq!(proxy.ask("echo", "hi"), "hi");

    machine.write("proxy.toml", ECHO.replace("echo]", "repaired]"));
    wait_for("the repaired settings", || proxy.models() == ["repaired"]);
}

#[test]
fn a_changed_models_json_is_reloaded() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    machine.write("models.json", r#"{"registered": {"driver": "echo", "repoPath": "."}}"#);
    proxy.logged(&["reloaded", "models=2"]);
    assert_eq!(proxy.ask("registered", "hi"), "hi");

    machine.write("models.json", "{\n  \"registered\": {\n    \"driver\": 1\n  }\n}");
    proxy.logged(&["models.json:3: registered.driver:"]);
    assert_eq!(proxy.ask("registered", "hi"), "hi");

    machine.write("models.json", "{\n  \"registered\": ");
    proxy.logged(&["models.json:2:"]);
    assert_eq!(proxy.models(), ["echo", "registered"]);
}

#[test]
fn a_run_keeps_the_settings_it_started_with() {
    let config = "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\n";
    let machine = Machine::configured(config);
    machine.script("cli", "cat; touched=1; echo > ../started; until [ -e ../open ]; do sleep 0.01; done");
    let proxy = machine.serve();
    thread::scope(|scope| {
        let run = scope.spawn(|| proxy.ask("m", "hi"));
        wait_for("the CLI to start", || machine.path("started").exists());
        machine.write("proxy.toml", ECHO);
        wait_for("the new settings", || proxy.models() == ["echo"]);
        fs::write(machine.path("open"), "").unwrap();
        assert_eq!(run.join().unwrap(), "hi");
    });
}

#[test]
fn check_exits_with_0_without_faults() {
    let machine = Machine::configured(ECHO);
    let expected = Run { code: Some(0), stdout: "no faults found\n".to_owned(), stderr: String::new() };
    assert_eq!(machine.run(&["check"]), expected);
}

#[test]
fn check_reports_every_fault_of_the_files_at_once() {
    let machine = Machine::configured(
        "[server]\nlisten = \"here\"\nkeys = []\n[models.one]\nrepo = \".\"\n[models.two]\ndriver = \"Echo\"\n\
         [limits]\nbody = \"large\"\n",
    );
    machine.write("models.json", "{\n\"three\": {\"repoPath\": \".\", \"worktree\": 1}}");
    let faults = machine.faults();
    let places: Vec<String> = faults.iter().map(|line| line.splitn(4, ' ').take(2).collect::<String>()).collect();
    let expected = [
        "proxy.toml:2:server.listen:",
        "proxy.toml:3:server.keys:",
        "proxy.toml:4:models.one.driver:",
        "proxy.toml:6:models.two.repo:",
        "proxy.toml:7:models.two.driver:",
        "proxy.toml:9:limits.body:",
        "models.json:2:three.driver:",
        "models.json:2:three.worktree:",
    ];
    assert_eq!(places, expected, "{faults:?}");
}

#[test]
fn check_reports_faults_of_the_files_and_missing_repositories_together() {
    let machine = Machine::configured(
        "[models.a]\ndriver = \"echo\"\nrepo = \"gone\"\n[models.b]\ndriver = \"echo\"\n[limits]\noutput_line = 0\n",
    );
    let places: Vec<String> = machine.faults().iter().map(|line| line.split(": ").next().unwrap().to_owned()).collect();
    assert_eq!(places, ["proxy.toml:4", "proxy.toml:7", "models.a.repo"]);
}

#[test]
fn check_names_the_new_key_of_a_renamed_one() {
    let machine = Machine::configured("[server]\ndrain = \"30s\"\n[models.m]\ndriver = \"echo\"\nrepo = \".\"\n");
    let expected = "proxy.toml:2: server.drain: unknown key: it is called `server.shutdown_timeout` now";
    assert_eq!(machine.faults(), [expected]);
}

#[test]
fn check_reports_everything_that_models_refer_to_and_that_does_not_exist() {
    let machine = Machine::configured(
        "[defaults]\nrepo = \".\"\n[models.a]\ndriver = \"nobody\"\n[models.b]\ndriver = \"codex\"\n\
         [models.c]\ndriver = \"echo\"\nrepo = \"gone\"\n[models.d]\ndriver = \"echo\"\nworktree = true\n\
         [models.e]\ndriver = \"generic\"\n",
    );
    let garbage = machine.put_plugin("garbage.wasm", "garbage");
    let work = machine.name("work");
    let mut faults = machine.faults();
    let of_garbage = faults.remove(0);
    assert!(
        of_garbage.starts_with(&format!("{}: is not a valid WebAssembly component", garbage.display())),
        "{of_garbage}"
    );
    let expected = [
        "models.a.driver: the driver `nobody` is not loaded: put its component into the plugin folder (`agentbay plugin add \
         FILE`), or name another driver"
            .to_owned(),
        "models.b.program: CLI not found: codex (npm install -g @openai/codex)".to_owned(),
        format!("models.c.repo: the repository {work}/gone does not exist"),
        format!("models.d.worktree: {work} is not a git repository, so no worktree can be made"),
        "models.e.program: the driver `generic` drives what the model names: write `program = \"…\"` into [models.e] \
         of proxy.toml"
            .to_owned(),
    ];
    assert_eq!(faults, expected);
}

#[test]
fn faults_are_a_table_with_place_and_key_or_a_document_with_the_same() {
    let machine = Machine::configured("[models.a]\ndriver = \"echo\"\nrepo = \"gone\"\n[limits]\nbody = 0\n");
    let work = machine.name("work");
    let zero = "must not be zero";
    let table = format!(
        "WHERE         KEY            FAULT\nproxy.toml:5  limits.body    {zero}\n\
         -             models.a.repo  the repository {work}/gone does not exist\n"
    );
    assert_eq!(machine.run(&["check"]), Run { code: Some(1), stdout: table, stderr: String::new() });
    let document = json!({"faults": [
        {"file": "proxy.toml", "line": 5, "key": "limits.body", "message": zero},
        {"file": null, "line": null, "key": "models.a.repo", "message": format!("the repository {work}/gone does not exist")},
    ]});
    assert_eq!(machine.json(&["check"]), document);
    assert_eq!(Machine::configured(ECHO).json(&["check"]), json!({"faults": []}));
}

#[test]
fn a_server_with_faulty_settings_does_not_start() {
    let machine = Machine::configured("[models.echo]\ndriver = \"echo\"\n");
    let run = machine.run(&["serve", "--listen", "127.0.0.1:0"]);
    let stderr =
        "proxy.toml:1: models.echo.repo: is missing: name the folder of the repository, here or in [defaults]\n";
    assert_eq!(run, Run { code: Some(1), stdout: String::new(), stderr: stderr.to_owned() });

    let run = machine.run(&["serve", "--config", "nothing.toml"]);
    let stderr = "nothing.toml: the file that `--config` names does not exist\n";
    assert_eq!(run, Run { code: Some(1), stdout: String::new(), stderr: stderr.to_owned() });
}

#[test]
fn an_address_that_others_can_reach_needs_a_key() {
    let why = "0.0.0.0:0 can be reached from other machines, and without a key anyone there could run agents here: \
               set server.api_keys, or listen on 127.0.0.1\n";
    let machine = Machine::configured(&format!("[server]\nlisten = \"0.0.0.0:0\"\n{ECHO}"));
    let stderr = format!("proxy.toml:2: server.listen: {why}");
    assert_eq!(machine.run(&["serve"]), Run { code: Some(1), stdout: String::new(), stderr });

    let machine = Machine::configured(ECHO);
    let run = machine.run(&["serve", "--listen", "0.0.0.0:0"]);
    let stderr = format!("proxy.toml: server.listen: (from the command line) {why}");
    assert_eq!(run, Run { code: Some(1), stdout: String::new(), stderr });
}

#[test]
fn an_address_in_use_is_reported() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    let address = proxy.address().to_string();
    let run = machine.run(&["serve", "--listen", &address]);
    let printed = (run.code, run.stdout.as_str(), run.stderr.contains(&format!("cannot listen on {address}")));
    assert_eq!(printed, (Some(1), "", true), "{}", run.stderr);
    assert!(run.stderr.contains("choose another with --listen or `server.listen`"), "{}", run.stderr);
}
