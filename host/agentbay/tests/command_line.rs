//! The program as a command: its output and its exit code, without a server.
#![cfg(test)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

#[expect(clippy::disallowed_methods, reason = "this is a test of the program itself")]
fn agentbay(dir: &TempDir, args: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentbay"));
    command.args(args).current_dir(dir.path()).env("HOME", dir.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_version_is_that_of_the_package_and_the_long_form_lists_the_contracts() {
    let short = agentbay(&TempDir::new().unwrap(), &["-V"], "");
    assert_eq!(text(&short.stdout), concat!("agentbay ", env!("CARGO_PKG_VERSION"), "\n"));
    let long = agentbay(&TempDir::new().unwrap(), &["--version"], "");
    assert_eq!(text(&long.stdout), concat!("agentbay ", env!("CARGO_PKG_VERSION"), "\ncontracts 0.1\n"));
}

#[test]
fn the_stand_in_agent_prints_its_prompt() {
    let output = agentbay(&TempDir::new().unwrap(), &["echo-agent"], "one  two\nthree");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "one  two\nthree"));
}

#[test]
fn a_misspelt_command_is_answered_with_a_similar_one() {
    let output = agentbay(&TempDir::new().unwrap(), &["serv"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a similar subcommand exists: 'serve'"), "{}", text(&output.stderr));
}

#[test]
fn shells_complete_the_commands_and_the_manual_has_a_page_for_each() {
    let dir = TempDir::new().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = agentbay(&dir, &["completions", shell], "");
        let words = ["worktree", "doctor", "listen"].map(|word| text(&script.stdout).contains(word));
        assert_eq!((script.status.code(), words), (Some(0), [true; 3]), "{shell}");
    }
    let written = agentbay(&dir, &["man", "pages"], "");
    assert_eq!((written.status.code(), text(&written.stderr)), (Some(0), ""));
    let pages = std::fs::read_dir(dir.path().join("pages")).unwrap();
    let mut pages: Vec<_> = pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    for page in ["agentbay.1", "agentbay-serve.1", "agentbay-plugin-add.1", "agentbay-worktree-list.1"] {
        assert!(pages.iter().any(|known| known == page), "{page}: {pages:?}");
    }
    assert!(!pages.iter().any(|page| page.contains("watchdog")), "{pages:?}");
}
