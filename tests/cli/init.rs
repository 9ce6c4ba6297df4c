//! The first steps: the program without arguments, and `init`.

use std::fs;

use serde_json::json;

use crate::support::{ECHO, Machine, Run};

fn written(machine: &Machine, lines: &[&str]) -> Run {
    let stdout = format!("wrote {}\n{}\n\nNext: agentbay serve\n", machine.name("work/proxy.toml"), lines.join("\n"));
    Run { code: Some(0), stdout, stderr: String::new() }
}

#[test]
fn without_arguments_the_first_commands_are_shown() {
    let run = Machine::new().run(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    for command in ["agentbay init", "agentbay serve", "agentbay doctor", "agentbay --help"] {
        assert!(run.stderr.contains(&format!("\n  {command} ")), "{}", run.stderr);
    }
    assert!(run.stderr.lines().count() < 10, "{}", run.stderr);
}

#[test]
fn init_writes_a_model_for_each_cli_on_path_which_check_accepts_and_serve_uses() {
    let machine = Machine::new();
    machine.repo("work").commit("AGENTS.md", "RULES\n");
    machine.script("codex", "exit 1");
    machine.script("gemini", "exit 1");
    let run = machine.run(&["init"]);
    let repo = format!("  repository  {}", machine.name("work"));
    assert_eq!(run, written(&machine, &[&repo, "  models      codex, echo, gemini"]));

    let text = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    let settings: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let expected = [
        "[server]",
        "listen = \"127.0.0.1:8787\"",
        "[defaults]",
        "repo = \".\"",
        "[models.codex]",
        "driver = \"codex\"",
        "[models.echo]",
        "driver = \"echo\"",
        "[models.gemini]",
        "driver = \"gemini\"",
    ];
    assert_eq!(settings, expected);
    assert_eq!(machine.json(&["check"]), json!({"faults": []}));
    // A commented setting is valid too.
    machine.write("proxy.toml", text.replace("\n#permission", "\npermission").replace("\n#worktree", "\nworktree"));
    assert_eq!(machine.json(&["check"]), json!({"faults": []}));
    machine.write("proxy.toml", text);
    let proxy = machine.serve();
    assert_eq!(proxy.models(), ["codex", "echo", "gemini"]);
    assert_eq!(proxy.ask("echo", "hi"), "RULES\n\n--- USER TASK ---\nhi");
}

#[test]
fn init_in_a_folder_of_a_repository_names_its_top_level() {
    let machine = Machine::new();
    machine.repo("repo").commit("AGENTS.md", "RULES\n");
    fs::create_dir_all(machine.path("repo/deep/down")).unwrap();
    let run = Run::of(machine.command(&["init"]).current_dir(machine.path("repo/deep/down")));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.contains(&format!("\n  repository  {}\n", machine.name("repo"))), "{}", run.stdout);
    let file = machine.path("repo/deep/down/proxy.toml");
    assert!(fs::read_to_string(&file).unwrap().contains("\nrepo = \"../..\"\n"));
    let proxy = machine.serve_with(&["--listen", "127.0.0.1:0", "--config", file.to_str().unwrap()]);
    assert_eq!(proxy.ask("echo", "hi"), "RULES\n\n--- USER TASK ---\nhi");
}

#[test]
fn init_without_a_repository_and_a_cli_takes_the_current_folder_and_echo() {
    let machine = Machine::new();
    let run = machine.run(&["init"]);
    let repo = format!("  repository  {}", machine.name("work"));
    let none = "  no CLI of a coding agent was found on PATH; `echo` needs none and repeats its prompt";
    assert_eq!(run, written(&machine, &[&repo, "  models      echo", none]));
    assert_eq!(machine.json(&["check"]), json!({"faults": []}));
}

#[test]
fn init_overwrites_no_file_and_no_link() {
    let machine = Machine::configured(ECHO);
    let refused = |machine: &Machine| {
        let file = machine.name("work/proxy.toml");
        let stderr =
            format!("{file} exists and is not overwritten: edit it, or rename it and run `agentbay init` again\n");
        assert_eq!(machine.run(&["init"]), Run { code: Some(1), stdout: String::new(), stderr });
    };
    refused(&machine);
    assert_eq!(fs::read_to_string(machine.path("work/proxy.toml")).unwrap(), ECHO);

    let machine = Machine::new();
    std::os::unix::fs::symlink("nowhere", machine.path("work/proxy.toml")).unwrap();
    refused(&machine);
    assert!(!machine.path("work/nowhere").exists());
}

#[test]
fn init_leaves_the_names_of_a_models_json_alone() {
    let machine = Machine::new();
    machine.write("models.json", r#"{"codex": {"driver": "codex", "repoPath": "."}}"#);
    machine.script("codex", "exit 1");
    machine.script("gemini", "exit 1");
    let run = machine.run(&["init"]);
    assert!(run.stdout.contains("\n  models      echo, gemini\n"), "{run:?}");
    assert_eq!(machine.json(&["check"]), json!({"faults": []}));
    assert_eq!(machine.serve_with(&["--listen", "127.0.0.1:0"]).models(), ["codex", "echo", "gemini"]);
}

#[test]
fn init_reports_faults_of_a_models_json_and_writes_nothing() {
    let machine = Machine::new();
    machine.write("models.json", "{");
    let run = machine.run(&["init"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.starts_with("models.json:1: "), "{}", run.stderr);
    assert!(!machine.path("work/proxy.toml").exists());
}
