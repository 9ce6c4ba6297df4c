//! Commands in the documents: each shell block is run beside a server like a reader's, and prints the output that is shown below
//! it. A block that cannot be run states the reason.

use std::fs;

use super::answers::{difference, line_difference};
use super::markdown::{Block, Document, pages};
use crate::api::openai_client::CLIENT;
use crate::support::{Machine, Proxy, chat, has_curl, wait_for};

/// The address in the documents.
pub(super) const ADDRESS: &str = "127.0.0.1:8787";

/// The ids in the documents of an active and of a finished run.
const LIVE: &str = "01a224c1a12471039ddbf4797168f138";
const OVER: &str = "01a224c127da7097856e8c6ee88f858e";

const CONFIG: &str = r#"
[defaults]
repo = "."
max_repo_runs = 8
[models.echo]
driver = "echo"
[models.slow]
driver = "generic"
program = "slow"
options = { answer = "whole" }
[models.tree]
driver = "generic"
program = "tree"
worktree = { dir = "../trees" }
"#;

/// The machine of a reader, with a server.
struct Reader {
    machine: Machine,
    proxy: Proxy,
}

impl Reader {
    fn new() -> Self {
        let machine = Machine::configured(CONFIG);
        let repo = machine.repo("work");
        repo.commit("proxy.toml", CONFIG);
        machine.stand_in("slow", &["gate", &machine.name("open"), "begun", "ended"]);
        machine.script("tree", "echo hello > hello.txt; echo done");
        let proxy = machine.serve();
        Self { machine, proxy }
    }

    /// The id of a finished run with a change in its worktree.
    fn over(&self) -> String {
        let answer = self.proxy.complete(&chat("tree", "hi")).json();
        let id = answer["id"].as_str().unwrap().trim_start_matches("chatcmpl-").to_owned();
        wait_for("the work to be saved", || self.proxy.get(&format!("/v1/runs/{id}/diff")).status == 200);
        wait_for("the run to be over", || self.live().is_none());
        id
    }

    fn live(&self) -> Option<String> {
        let runs = self.proxy.get("/v1/runs").json();
        runs["data"][0]["id"].as_str().map(str::to_owned)
    }

    /// Runs the commands of a document. Returns the number of blocks, or a difference.
    fn follow(&self, document: &Document) -> Result<usize, String> {
        let blocks = document.blocks();
        if !blocks.iter().any(|block| is_run(block) && block.text.contains("/v1/runs/")) {
            return self.follow_with(&blocks, str::to_owned);
        }
        let over = self.over();
        let mut body = chat("slow", "hi");
        body["stream"] = true.into();
        let (_, mut events) = self.proxy.stream_of(&body);
        events.find(|item| format!("{item:?}").contains("begun")).expect("the run prints something");
        let live = self.live().expect("a run in progress");
        self.follow_with(&blocks, |text| text.replace(LIVE, &live).replace(OVER, &over))
    }

    fn follow_with(&self, blocks: &[Block], with_ids: impl Fn(&str) -> String) -> Result<usize, String> {
        let address = self.proxy.address().to_string();
        let mut count = 0;
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| is_run(block)) {
            let run = self.machine.shell(&with_ids(&block.text).replace(ADDRESS, &address));
            let shown = blocks.get(at + 1).filter(|next| next.follows);
            let differs = match shown {
                _ if run.code != Some(0) => Some(format!("{run:?}")),
                Some(shown) => compare(shown, &run.stdout),
                None => None,
            };
            if let Some(differs) = differs {
                return Err(format!("{}: {differs}", block.place));
            }
            count += 1;
        }
        Ok(count)
    }
}

fn is_run(block: &Block) -> bool {
    block.language == "sh" && block.norun().is_none()
}

/// The difference between the shown and the real output.
fn compare(shown: &Block, came: &str) -> Option<String> {
    match shown.language.as_str() {
        "json" => match (serde_json::from_str(&shown.text), serde_json::from_str(came)) {
            (Ok(shown), Ok(came)) => difference(&shown, &came),
            (shown, came) => Some(format!("no JSON: {shown:?}, {came:?}")),
        },
        "text" => line_difference(&shown.text, came),
        _ => None,
    }
}

#[test]
fn commands_in_the_docs_run_and_print_the_output_below_them() {
    if !has_curl() {
        return;
    }
    let documents = pages().into_iter().filter(|document| document.blocks().iter().any(is_run));
    let followed: Result<Vec<usize>, String> = documents.map(|document| Reader::new().follow(&document)).collect();
    let count = followed.map(|counts| counts.into_iter().sum::<usize>());
    assert!(count.as_ref().is_ok_and(|count| *count >= 15), "{count:?}");
}

#[test]
fn a_python_program_of_the_docs_prints_the_answer() {
    let Some(python) = CLIENT.python() else { return };
    let reader = Reader::new();
    let blocks: Vec<Block> =
        pages().iter().flat_map(Document::blocks).filter(|block| block.language == "python").collect();
    assert!(!blocks.is_empty(), "README shows a client's SDK");
    for block in blocks {
        let file = reader.machine.path("client.py");
        fs::write(&file, block.text.replace(ADDRESS, &reader.proxy.address().to_string())).unwrap();
        let printed = python.run(&[file.to_str().unwrap()]).unwrap_or_else(|error| panic!("{}: {error}", block.place));
        assert_eq!(String::from_utf8(printed).unwrap(), "What does this repository do?\n", "{}", block.place);
        assert!(block.text.trim().lines().count() <= 8, "{}: a client takes eight lines", block.place);
    }
}

#[test]
fn every_block_is_checked_or_states_why_not() {
    let mut faults = Vec::new();
    for document in pages() {
        let blocks = document.blocks();
        for (at, block) in blocks.iter().enumerate() {
            let answers =
                at > 0 && block.follows && blocks[at - 1].language == "sh" && blocks[at - 1].norun().is_none();
            let is_checked = match block.language.as_str() {
                "sh" | "toml" | "python" => block.note.is_empty(),
                "json" => (block.note.is_empty() && answers) || block.note == "file: models.json",
                // Sessions, and files of other programs.
                "text" | "console" | "rust" | "ini" | "xml" | "dockerfile" | "nginx" => continue,
                _ => false,
            };
            let is_excused = block.norun().is_some_and(|reason| reason.len() >= 10);
            if !is_checked && !is_excused {
                faults.push(format!("{}: `{}` with {:?}", block.place, block.language, block.note));
            }
        }
    }
    assert!(faults.is_empty(), "neither run nor excused by `norun: REASON`:\n{}", faults.join("\n"));
}

/// The arguments of `agentbay` in a line, up to a lone `--`; `None` if it starts another program.
fn arguments(line: &str) -> Option<Vec<&str>> {
    let line = line.split(" #").next().unwrap();
    let mut words = line.split_whitespace().skip_while(|word| word.contains('='));
    (words.next() == Some("agentbay")).then(|| words.take_while(|word| *word != "--").collect())
}

#[test]
fn every_agentbay_command_of_the_docs_exists_with_its_options() {
    let machine = Machine::new();
    let mut count = 0;
    for block in pages().iter().flat_map(Document::blocks) {
        let is_session = matches!(block.language.as_str(), "console" | "text");
        let text = block.text.replace("\\\n", " ");
        for line in text.lines().filter(|_| is_session || block.language == "sh") {
            let line = if is_session { line.strip_prefix("$ ") } else { Some(line) };
            let Some(arguments) = line.and_then(arguments) else { continue };
            let depth = if matches!(arguments.first(), Some(&("plugin" | "worktree"))) { 2 } else { 1 };
            let named = arguments.iter().take(depth).take_while(|word| !word.starts_with('-'));
            let command: Vec<&str> = named.copied().chain(["--help"]).collect();
            let help = machine.run(&command);
            assert_eq!(help.code, Some(0), "{}: {line:?}", block.place);
            for option in arguments.iter().filter(|word| word.starts_with("--")) {
                assert!(help.stdout.contains(option), "{}: {option} is not in {command:?}", block.place);
            }
            count += 1;
        }
    }
    assert!(count >= 15, "only {count} commands were found");
}

#[test]
fn a_new_plugin_project_is_announced_as_the_guide_shows() {
    let command = "$ agentbay plugin new weather\n";
    let printed = Machine::new().run(&["plugin", "new", "weather"]).stdout;
    let blocks = pages().into_iter().flat_map(|page| page.blocks());
    let shown: Vec<String> = blocks
        .filter_map(|block| block.text.split_once(command).map(|(_, shown)| shown.to_owned()))
        .map(|shown| shown.split("$ ").next().unwrap().to_owned())
        .collect();
    assert_eq!(shown, [printed.clone(), printed]);
}

#[test]
fn a_command_that_fails_or_prints_something_else_is_found() {
    if !has_curl() {
        return;
    }
    let block = |language: &str, text: &str| Block {
        place: "here".to_owned(),
        language: language.to_owned(),
        note: String::new(),
        text: text.to_owned(),
        follows: language != "sh",
    };
    let reader = Reader::new();
    let follow = |command: &str, language: &str, shown: &str| {
        reader.follow_with(&[block("sh", command), block(language, shown)], str::to_owned)
    };
    let runs = "curl -s 127.0.0.1:8787/v1/runs";
    assert_eq!(follow(runs, "json", r#"{"object": "list", "data": []}"#), Ok(1));
    assert_eq!(follow("agentbay --version", "text", "agentbay 0.1.0\ncontracts 0.1\n"), Ok(1));
    for (command, language, shown) in [
        (runs, "json", r#"{"object": "page", "data": []}"#),
        (runs, "json", "{}"),
        (runs, "text", "nothing"),
        ("agentbay no-such-command", "console", ""),
    ] {
        assert!(follow(command, language, shown).is_err(), "{command}: {shown}");
    }
}
