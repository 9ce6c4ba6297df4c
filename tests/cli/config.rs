//! Settings: what serves without any, what is told of faulty ones, and what changes while it serves.

use std::fs;
use std::thread;

use crate::support::{ECHO, Machine, Run, chat, wait_for};

#[test]
fn without_any_file_echo_and_the_clis_on_path_are_offered_for_this_folder() {
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
fn paths_are_relative_to_the_file_that_is_named() {
    let machine = Machine::new();
    machine.repo("conf").commit("AGENTS.md", "RULES\n");
    fs::write(machine.path("conf/mine.toml"), ECHO).unwrap();
    let proxy = machine.serve_with(&["--config", "../conf/mine.toml", "--listen", "127.0.0.1:0"]);
    assert_eq!(proxy.ask("echo", "hi"), "RULES\n\n--- USER TASK ---\nhi");
}

#[test]
fn the_address_may_stand_in_the_file() {
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
fn a_broken_edit_changes_nothing_and_is_told_with_file_line_and_key() {
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
fn the_registry_is_read_again_as_well() {
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
fn a_run_keeps_the_settings_it_began_with() {
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

/// What is told of settings, with each line by itself.
fn told(run: &Run) -> Vec<&str> {
    run.stderr.lines().collect()
}

#[test]
fn check_finds_no_fault_where_there_is_none() {
    let machine = Machine::configured(ECHO);
    let expected = Run { code: Some(0), stdout: "no faults found\n".to_owned(), stderr: String::new() };
    assert_eq!(machine.run(&["check"]), expected);
}

#[test]
fn check_tells_every_fault_of_the_files_at_once() {
    let machine = Machine::configured(
        "[server]\nlisten = \"here\"\nkeys = []\n[models.one]\nrepo = \".\"\n[models.two]\ndriver = \"Echo\"\n\
         [limits]\nbody = \"large\"\n",
    );
    machine.write("models.json", "{\n\"three\": {\"repoPath\": \".\", \"worktree\": 1}}");
    let run = machine.run(&["check"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    let places: Vec<String> = told(&run).iter().map(|line| line.splitn(4, ' ').take(2).collect::<String>()).collect();
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
    assert_eq!(places, expected, "{}", run.stderr);
}

#[test]
fn check_tells_faults_and_what_is_not_there_together() {
    let machine = Machine::configured(
        "[models.a]\ndriver = \"echo\"\nrepo = \"gone\"\n[models.b]\ndriver = \"echo\"\n[limits]\nline = 0\n",
    );
    let places: Vec<String> =
        told(&machine.run(&["check"])).iter().map(|line| line.split(": ").next().unwrap().to_owned()).collect();
    assert_eq!(places, ["proxy.toml:4", "proxy.toml:7", "models.a.repo"]);
}

#[test]
fn check_tells_of_everything_that_the_models_refer_to_and_that_is_not_there() {
    let machine = Machine::configured(
        "[defaults]\nrepo = \".\"\n[models.a]\ndriver = \"nobody\"\n[models.b]\ndriver = \"codex\"\n\
         [models.c]\ndriver = \"echo\"\nrepo = \"gone\"\n[models.d]\ndriver = \"echo\"\nworktree = true\n\
         [models.e]\ndriver = \"generic\"\n",
    );
    let garbage = machine.put_plugin("garbage.wasm", "garbage");
    let run = machine.run(&["check"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    let work = machine.name("work");
    let mut told = told(&run);
    let of_garbage = told.remove(0);
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
    assert_eq!(told, expected);
}

#[test]
fn a_server_with_faulty_settings_does_not_start() {
    let machine = Machine::configured("[models.echo]\ndriver = \"echo\"\n");
    let run = machine.run(&["serve", "--listen", "127.0.0.1:0"]);
    let stderr =
        "proxy.toml:1: models.echo.repo: is missing: name the folder of the repository, here or in [defaults]\n";
    assert_eq!(run, Run { code: Some(1), stdout: String::new(), stderr: stderr.to_owned() });

    let run = machine.run(&["serve", "--config", "nothing.toml"]);
    let stderr = "nothing.toml: there is no such file; `--config` names it\n";
    assert_eq!(run, Run { code: Some(1), stdout: String::new(), stderr: stderr.to_owned() });
}

#[test]
fn an_address_that_others_reach_is_not_listened_on_without_a_key() {
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
fn an_address_that_is_taken_is_told() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    let address = proxy.address().to_string();
    let run = machine.run(&["serve", "--listen", &address]);
    let said = (run.code, run.stdout.as_str(), run.stderr.contains(&format!("cannot listen on {address}")));
    assert_eq!(said, (Some(1), "", true), "{}", run.stderr);
    assert!(run.stderr.contains("choose another with --listen or `server.listen`"), "{}", run.stderr);
}
