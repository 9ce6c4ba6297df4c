//! Every recorded run of a real CLI that has expected events (`golden.json`) yields them over HTTP: the text, whole and
//! streamed, or the failure with its category, message and partial answer.
//!
//! The expectations were reviewed against the recordings, and the plugins' own tests compare them natively. Here they
//! pass through the component, the host and a real process.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use serde_json::Value;

use crate::support::{Machine, Proxy, Streamed, chat, fixtures};

/// The recordings took up to a minute.
const SPEED: &str = "500";

/// Recordings of turns that the chat API cannot request: one with an output schema.
const OTHER_TURNS: [&str; 1] = ["qwen-plain-schema"];

/// How many recordings are replayed at once.
const AT_ONCE: usize = 8;

/// The folders of recordings, named after the driver that reads them, and the name of the CLI.
const CLIS: [(&str, &str); 7] = [
    ("claude", "Claude Code"),
    ("codex", "OpenAI Codex"),
    ("copilot", "GitHub Copilot"),
    ("gemini", "Gemini CLI"),
    ("grok", "Grok"),
    ("opencode", "opencode"),
    ("qwen", "Qwen Code"),
];

struct Recording {
    model: String,
    driver: &'static str,
    folder: PathBuf,
    expected: Expected,
}

/// The expected answer to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expected {
    content: String,
    reasoning: String,
    /// Category and message.
    failure: Option<(String, String)>,
}

impl Expected {
    /// Reads `golden.json` of the CLI with this name. The first outcome among the events counts, otherwise the one at
    /// the end of the process.
    fn read(golden: &Value, model: &str, cli: &str) -> Self {
        let events = golden["events"].as_array().unwrap();
        let end = events.iter().position(|event| event.get("done").is_some());
        let outcome = end.map_or(&golden["outcome"], |end| &events[end]["done"]);
        let mut content: Vec<String> = vec![String::new()];
        let mut reasoning = String::new();
        for event in &events[..end.unwrap_or(events.len())] {
            if event == "text-break" {
                content.push(String::new());
            } else if let Some(text) = event["text"].as_str() {
                *content.last_mut().unwrap() += text;
            } else if let Some(text) = event["reasoning"].as_str() {
                reasoning += text;
            }
        }
        content.retain(|message| !message.is_empty());
        let mut content = content.join("\n\n");
        if content.is_empty() {
            content = outcome["answer"].as_str().unwrap_or_default().to_owned();
        }
        let words = |failure: &Value, key: &str| failure[key].as_str().unwrap().to_owned();
        let failure = Some(&outcome["failure"]).filter(|failure| !failure.is_null());
        let failure = failure.map(|failure| {
            let category = words(failure, "category").replace('-', "_");
            let named = EXPLAINED_BY_HOST.iter().find(|(recording, _)| *recording == model);
            if let Some((_, message)) = named {
                return (category, (*message).to_owned());
            }
            let message = message_for_client(cli, &category, &words(failure, "message"), &words(failure, "detail"));
            (category, message)
        });
        Self { content, reasoning, failure }
    }

    /// The status of a whole answer: the host's table of failures, repeated from the client's point of view.
    fn status(&self) -> u16 {
        match self.failure.as_ref().map(|(category, _)| category.as_str()) {
            None => 200,
            Some("quota" | "rate_limit") => 429,
            Some("authentication") => 401,
            Some("validation") => 400,
            Some("network" | "server") => 502,
            Some("timeout") => 504,
            Some("not_found") => 404,
            Some(_) => 500,
        }
    }
}

/// Recordings whose failure the host itself explains: the operating system or a settings file refused the CLI.
const EXPLAINED_BY_HOST: [(&str, &str); 1] =
    [("codex-plain-chat", "the CLI cannot read its settings in `config.toml`: correct them")];

/// The message that the host builds from a plugin's message and detail, for a user who sees nothing else.
fn message_for_client(cli: &str, category: &str, message: &str, detail: &str) -> String {
    let first_line = detail.lines().map(str::trim).find(|line| !line.is_empty());
    match (category, message.split_once(". To log in: "), first_line) {
        ("authentication", Some((message, hint)), _) => format!("{cli} needs a login: {hint}. {message}"),
        (_, _, Some(line)) if message == "CLI failed" => format!("{message}: {line}"),
        _ => message.to_owned(),
    }
}

/// All recordings with expectations, except those that the recorder killed.
fn recordings() -> Vec<Recording> {
    let mut recordings = Vec::new();
    for (driver, cli) in CLIS {
        let Ok(folders) = fixtures().join(driver).read_dir() else { continue };
        for folder in folders.map(|folder| folder.unwrap().path()) {
            let Ok(golden) = fs::read(folder.join("golden.json")) else { continue };
            let meta: Value = serde_json::from_slice(&fs::read(folder.join("meta.json")).unwrap()).unwrap();
            let model = format!("{driver}-{}", folder.file_name().unwrap().to_str().unwrap());
            if meta.get("killed").is_none_or(Value::is_null) && !OTHER_TURNS.contains(&model.as_str()) {
                let expected = Expected::read(&serde_json::from_slice(&golden).unwrap(), &model, cli);
                recordings.push(Recording { model, driver, folder, expected });
            }
        }
    }
    recordings
}

impl Recording {
    fn check(&self, proxy: &Proxy) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut compare = |how: &str, got: String, expected: String| {
            if got != expected {
                wrong.push(format!("{} {how}:\n     got {got}\nexpected {expected}", self.model));
            }
        };
        let expected = &self.expected;
        let whole = proxy.complete(&chat(&self.model, "Say hello"));
        compare("status", whole.status.to_string(), expected.status().to_string());
        let body = whole.json();
        let got = match body.get("error") {
            Some(error) => Expected {
                content: error["partial"].as_str().unwrap_or_default().to_owned(),
                reasoning: expected.reasoning.clone(),
                failure: Some((
                    error["code"].as_str().unwrap().to_owned(),
                    error["message"].as_str().unwrap().to_owned(),
                )),
            },
            None => {
                let message = &body["choices"][0]["message"];
                let text = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
                Expected { content: text("content"), reasoning: text("reasoning_content"), failure: None }
            }
        };
        compare("whole", format!("{got:?}"), format!("{expected:?}"));

        let (head, events) = proxy.stream(&self.model, "Say hello");
        if head.status == 200 {
            let streamed = Streamed::read(events);
            let error = streamed.error.map(|body| body["error"].clone());
            let failure = error.map(|error| {
                (error["code"].as_str().unwrap().to_owned(), error["message"].as_str().unwrap().to_owned())
            });
            let got = Expected { content: streamed.content, reasoning: streamed.reasoning, failure };
            // A stream carries an answer that only the outcome contains if the run succeeded.
            compare("streamed", format!("{got:?}"), format!("{expected:?}"));
        } else {
            compare("status of the stream", head.status.to_string(), expected.status().to_string());
        }
        wrong
    }
}

#[test]
fn every_recording_yields_its_expected_answer() {
    let recordings = recordings();
    let machine = Machine::new();
    let mut config = "[defaults]\nrepo = \".\"\n".to_owned();
    for Recording { model, driver, folder, .. } in &recordings {
        machine.stand_in(model, &["replay", "--speed", SPEED, folder.to_str().unwrap()]);
        config += &format!("[models.\"{model}\"]\ndriver = \"{driver}\"\nprogram = \"{model}\"\n");
    }
    machine.write("proxy.toml", config);
    let proxy = machine.serve();
    let (queue, wrong) = (Mutex::new(recordings.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(recording) = queue.lock().unwrap().next() else { break };
                    let found = recording.check(&proxy);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    println!("{} recordings played, each whole and streamed", recordings.len());
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
