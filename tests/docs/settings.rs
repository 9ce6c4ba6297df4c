//! Settings in the documents: `agentbay check` finds no fault in them, on a machine with the repositories and programs that they
//! name.

use std::fs;

use super::markdown::{Block, pages};
use crate::support::{Machine, Run};

/// The programs of the built-in plugins.
const CLIS: [&str; 8] = ["claude", "codex", "copilot", "gemini", "opencode", "qwen", "ax-glm", "ax-grok"];

/// The text values of a key in TOML or JSON.
fn values<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let assigned = move |line: &'a str| {
        let at = line.find(key)?;
        let rest = line[at + key.len()..].trim_start_matches(['"', ' ']);
        let value = rest.strip_prefix(['=', ':'])?.trim_start().strip_prefix('"')?;
        value.split('"').next()
    };
    text.lines().filter_map(assigned)
}

/// A machine that has the repositories and programs of some settings, in this file.
fn machine(block: &Block, file: &str) -> Machine {
    let machine = Machine::new();
    // An absolute path is one of the reader's machine.
    let text = block.text.replace("\"/", &format!("\"{}/", machine.name("root")));
    for repo in values(&text, "repo").chain(values(&text, "repoPath")) {
        let path =
            repo.strip_prefix("~/").map_or_else(|| repo.to_owned(), |rest| machine.name(&format!("home/{rest}")));
        if repo != "." && !fs::exists(&path).unwrap() {
            machine.repo(&path);
        }
    }
    for program in CLIS.into_iter().chain(values(&text, "program")) {
        machine.script(program, "echo 1.0.0");
    }
    machine.write(file, text);
    machine
}

/// The file of a block; `None` if it is not a block of settings.
fn file(block: &Block) -> Option<&str> {
    match block.language.as_str() {
        _ if block.norun().is_some() => None,
        "toml" => Some("proxy.toml"),
        "json" => block.note.strip_prefix("file: "),
        _ => None,
    }
}

fn check(block: &Block, file: &str) -> Run {
    machine(block, file).run(&["check"])
}

#[test]
fn check_finds_no_fault_in_the_settings_of_the_docs() {
    let blocks: Vec<Block> = pages().iter().flat_map(super::markdown::Document::blocks).collect();
    let settings: Vec<(&Block, &str)> = blocks.iter().filter_map(|block| Some((block, file(block)?))).collect();
    assert!(settings.len() >= 10, "only {} blocks of settings were found", settings.len());
    let expected = Run { code: Some(0), stdout: "no faults found\n".to_owned(), stderr: String::new() };
    for (block, file) in settings {
        assert_eq!(check(block, file), expected, "{}", block.place);
    }
}

#[test]
fn a_fault_in_settings_is_found() {
    let block = Block {
        place: String::new(),
        language: "toml".to_owned(),
        note: String::new(),
        text: "[models.a]\ndriver = \"echo\"\nrepo = \"~/a\"\nwork = true\n".to_owned(),
        follows: false,
    };
    let run = check(&block, "proxy.toml");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("\nproxy.toml:4  models.a.work  unknown key"), "{run:?}");
}
