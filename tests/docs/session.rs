//! The picture of a terminal session in README and the book, from a real session: the program on a terminal, and `curl` beside it.
//! `make session` writes it again.

use std::fmt::Write as _;
use std::fs;

use super::answers::line_difference;
use super::commands::ADDRESS;
use super::markdown::{Document, checkout};
use crate::cli::screen;
use crate::support::{Machine, binary, has_curl, wait_for};

const PICTURE: &str = "docs/src/session.svg";

const CONFIG: &str = r#"
[models.echo]
driver = "echo"
repo = "."
[models.notes]
driver = "generic"
repo = "."
program = "notes-cli"
worktree = { dir = "../trees" }
"#;

const SERVE: &str = "agentbay serve";

const ASK: &str = r#"curl -si 127.0.0.1:8787/v1/chat/completions -H 'content-type: application/json' \
    -d '{"model":"notes","messages":[{"role":"user","content":"Write a README."}]}' |
    grep -oE '^HTTP.*|^x-agentbay.*|"content":"[^"]*"'"#;

const DIFF: &str = "curl -s 127.0.0.1:8787/v1/runs/ID/diff";

/// Pixels of a character and of a line, and the space around the text.
const CHARACTER: usize = 8;
const LINE: usize = 20;
const MARGIN: usize = 16;

/// Light and dark, as the system of the reader is set.
const STYLE: &str = "\
rect { fill: #f6f8fa }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #57606a }
.command { fill: #0550ae; font-weight: 600 }
.added { fill: #116329 }
.removed { fill: #82071e }
@media (prefers-color-scheme: dark) {
  rect { fill: #161b22 }
  text { fill: #b1bac4 }
  .command { fill: #79c0ff }
  .added { fill: #7ee787 }
  .removed { fill: #ffa198 }
}";

/// Commands, each with the lines that it prints. `None` if there is no terminal or no `curl`.
fn session() -> Option<Vec<(String, Vec<String>)>> {
    if !has_curl() {
        return None;
    }
    let machine = Machine::configured(CONFIG);
    machine.script("notes-cli", "echo '# App' > README.md; echo 'I wrote README.md.'");
    machine.repo("work").commit("proxy.toml", CONFIG);
    let on_terminal = machine.run_on_screen(100, "notes-cli", &["serve", "--listen", "127.0.0.1:0"], &[])?;
    let started = screen::lines(&on_terminal.stdout).into_iter().skip_while(|line| !line.starts_with("listening on"));
    // The log goes to the same terminal, with times of its own. Readers have the program and the CLI in other folders.
    let started = started.filter(|line| !line.contains(" INFO ")).map(|line| {
        let line = line.replace(binary("agentbay").to_str().unwrap(), "/usr/local/bin/agentbay");
        let line = line.replace(&machine.name("bin"), "/usr/local/bin");
        line.split_once("127.0.0.1:").map_or(line.clone(), |(before, _)| format!("{before}{ADDRESS}"))
    });
    let mut session = vec![(SERVE.to_owned(), started.collect())];

    let proxy = machine.serve();
    let address = proxy.address().to_string();
    let mut run = |command: &str| {
        let run = machine.shell(&command.replace(ADDRESS, &address));
        assert_eq!(run.code, Some(0), "{run:?}");
        session.push((command.to_owned(), run.stdout.lines().map(|line| line.trim_end().to_owned()).collect()));
        run.stdout
    };
    let answer = run(ASK);
    let id = answer.split_once("refs/agentbay/").expect("a ref").1.lines().next().unwrap().trim();
    wait_for("the work to be saved", || proxy.get(&format!("/v1/runs/{id}/diff")).status == 200);
    run(&DIFF.replace("ID", id));
    Some(session)
}

/// The lines of a session, each with its class in the picture.
fn lines(session: &[(String, Vec<String>)]) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for (at, (command, printed)) in session.iter().enumerate() {
        match at {
            0 => {}
            1 => lines.extend(["", "# in another terminal"].map(|line| ("", line.to_owned()))),
            _ => lines.push(("", String::new())),
        }
        lines.extend(format!("$ {command}").lines().map(|line| ("command", line.to_owned())));
        lines.extend(printed.iter().map(|line| {
            let class = match line.chars().next() {
                Some('+') => "added",
                Some('-') => "removed",
                _ => "",
            };
            (class, line.clone())
        }));
    }
    lines
}

/// The picture of a session.
fn drawn(session: &[(String, Vec<String>)]) -> String {
    let lines = lines(session);
    let longest = lines.iter().map(|(_, line)| line.chars().count()).max().unwrap();
    let (width, height) = (longest * CHARACTER + 2 * MARGIN, lines.len() * LINE + 2 * MARGIN);
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" xml:space=\"preserve\" role=\"img\">\n\
         <title>A terminal session with AgentBay</title>\n<style>\n{STYLE}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\"/>\n"
    );
    for (at, (class, line)) in lines.iter().enumerate() {
        let text = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        if text.is_empty() {
            continue;
        }
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let y = MARGIN + at * LINE + LINE * 3 / 4;
        writeln!(picture, "<text x=\"{MARGIN}\" y=\"{y}\"{class}>{text}</text>").unwrap();
    }
    picture + "</svg>\n"
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the variable asks for a new picture")]
fn the_picture_of_a_session_shows_what_the_program_prints() {
    let Some(session) = session() else { return };
    let picture = drawn(&session);
    if std::env::var_os("RENEW").is_some() {
        fs::write(checkout().join(PICTURE), &picture).unwrap();
    }
    let shown = Document::read(PICTURE).text;
    assert_eq!(line_difference(&shown, &picture), None, "`make session` draws it again");
    assert!(shown.len() < 10_000, "{} bytes", shown.len());
}
