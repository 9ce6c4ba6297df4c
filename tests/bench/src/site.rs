//! The place where one program is measured: a home, a configuration and a repository of its own, and the CLIs behind it.

mod agent;
mod configuration;

pub(crate) use agent::Agent;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::group::Group;
use crate::server::Server;
use crate::{Binary, Setup, repository};

/// What every run is asked.
pub(crate) const PROMPT: &str = "one two three";

/// The recorded run, and what the lines of its deltas hold.
const RECORDING: &str = "claude/markdown";
const DELTA: &str = "\"text_delta\"";

/// Milliseconds between two stamped lines: long enough that each is a delta of its own.
const PACE: u64 = 2;

/// Milliseconds of processor time of the CLI that computes.
const COMPUTED: u64 = 5;

/// A delta of Claude Code around a text, and its last line: whole lines, which the host passes on at once.
const BEFORE: &str =
    r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":""#;
const AFTER: &str = r#""}}}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":""}"#;

/// A CLI that prints a word and waits for a byte, one that is cancelled, and one with a long transcript: models and scripts.
pub(crate) const HELD: &str = "held";
pub(crate) const CANCELLED: &str = "cancelled";
pub(crate) const LONG: &str = "long";

/// Lines of the log that are shown with an error.
const LOGGED: usize = 20;

/// The file name of the pipe for held CLIs.
const FIFO: &str = "fifo";

/// Bytes before each stamp of the long transcript, so that a line has a thousand.
const FILLER: usize = 880;

/// Number of files in the repository.
const FILES: usize = 10;

/// The folder of the large repository.
const LARGE: &str = "large";

/// The place, which goes with this.
#[derive(Debug)]
pub(crate) struct Site {
    dir: TempDir,
    program: PathBuf,
    path: std::ffi::OsString,
    lines: u32,
    /// Number of bytes of the recorded run up to its first delta.
    first_delta: usize,
    /// What an answer from it says.
    replayed: String,
    cache: Option<PathBuf>,
    has_large: bool,
    /// A component that takes the place of the plugin `echo`, and answers in capital letters.
    pub(crate) loud: Vec<u8>,
}

impl Site {
    /// Makes the place for a program.
    pub(crate) fn new(setup: &Setup, binary: &Binary) -> Result<Self> {
        let recording = setup.fixtures.join(RECORDING);
        let recorded = fs::read_to_string(recording.join("stdout")).with_context(|| recording.display().to_string())?;
        let delta = recorded.find(DELTA).context("the recorded run has no delta")?;
        let site = Self {
            dir: tempfile::Builder::new().prefix("agentbay-bench-").tempdir()?,
            program: binary.program.clone(),
            path: path(),
            lines: setup.plan.lines,
            replayed: replayed(&recording)?,
            cache: setup.cache.clone(),
            loud: fs::read(setup.fixtures.join("plugins/loud-echo.wasm"))?,
            has_large: setup.groups.contains(&Group::Repository),
            first_delta: delta + recorded[delta..].find('\n').context("an open line")?,
        };
        for folder in ["home", "work"] {
            fs::create_dir(site.at(folder))?;
        }
        symlink(&setup.stand_in, site.at("stand-in"))?;
        let recording = recording.display().to_string();
        let replay = ["replay", "--speed", "1000000"].map(str::to_owned);
        site.write_script("claude", &[&replay[..], std::slice::from_ref(&recording)].concat())?;
        let computing = ["--compute".into(), COMPUTED.to_string(), recording];
        site.write_script("computing", &[&replay[..], &computing].concat())?;
        site.write_script("stamped", &stamp("", site.lines, PACE))?;
        site.write_script(LONG, &stamp(&"x".repeat(FILLER), setup.plan.transcript, 0))?;
        let fifo = site.at(FIFO).display().to_string();
        site.write_script(HELD, &["hold".into(), fifo, format!("{BEFORE}one{AFTER}"), RESULT.into()])?;
        fs::create_dir(site.at("locks"))?;
        let locks = site.at("locks").display().to_string();
        site.write_script(CANCELLED, &["hang".into(), locks, "one".into()])?;
        repository::make(&site.at("repository"), FILES, || site.git())?;
        if site.has_large {
            repository::make(&site.at(LARGE), setup.plan.files, || site.git())?;
        }
        let made = site.command(Path::new("mkfifo")).arg(site.at(FIFO)).status()?;
        ensure!(made.success(), "mkfifo ends with {made}");
        fs::write(site.at("work/proxy.toml"), site.configuration(None))?;
        fs::write(site.at("work/streams.toml"), site.configuration(Some(setup.plan.streams)))?;
        Ok(site)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A CLI that is the stand-in with these arguments. Not a shell script: the start of the shell would be measured too.
    fn write_script(&self, name: &str, arguments: &[String]) -> Result<()> {
        let script = self.at(name);
        let lines = format!("#!{} --script\n{}\n", self.at("stand-in").display(), arguments.join("\n"));
        fs::write(&script, lines)?;
        Ok(fs::set_permissions(script, fs::Permissions::from_mode(0o755))?)
    }

    fn git(&self) -> Command {
        self.command(Path::new("git"))
    }

    /// The agents, each whole and streamed.
    pub(crate) fn agents(&self) -> impl Iterator<Item = (Agent, bool)> + use<> {
        let of_large = if self.has_large { &Agent::OF_LARGE[..] } else { &[] };
        Agent::USUAL.iter().chain(of_large).flat_map(|agent| [(*agent, false), (*agent, true)])
    }

    /// Starts the program without anything that it has compiled before.
    pub(crate) fn serve_cold(&self) -> Result<Server> {
        let empty = tempfile::tempdir_in(self.dir.path())?;
        self.serve(empty.path())
    }

    /// Starts the program with a folder for what it compiles.
    pub(crate) fn serve(&self, cache: &Path) -> Result<Server> {
        let mut command = self.command(&self.program);
        command.arg("serve").current_dir(self.at("work")).env("XDG_CACHE_HOME", cache);
        Server::start(command, &self.at("log"))
    }

    /// Starts the program with limits that allow many streams at once.
    pub(crate) fn serve_streams(&self) -> Result<Server> {
        let mut command = self.command(&self.program);
        command.args(["serve", "--config", "streams.toml"]).current_dir(self.at("work"));
        command.env("XDG_CACHE_HOME", self.cache());
        Server::start(command, &self.at("log"))
    }

    /// The end of the log of the last server.
    pub(crate) fn log(&self) -> String {
        let log = fs::read_to_string(self.at("log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().filter(|line| !line.contains(" request{")).take(LOGGED).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// The pipe from which each held CLI reads the byte that ends it.
    pub(crate) fn fifo(&self) -> PathBuf {
        self.at(FIFO)
    }

    /// The files that the processes of the cancelled CLI hold locks on.
    pub(crate) fn locks(&self) -> [PathBuf; 2] {
        ["locks/leader", "locks/descendant"].map(|name| self.at(name))
    }

    /// A file in the plugin folder, which may not exist yet, and one beside the folder.
    pub(crate) fn plugin(&self) -> Result<[PathBuf; 2]> {
        let data = self.at("home/.local/share/agentbay");
        fs::create_dir_all(data.join("plugins"))?;
        Ok([data.join("plugins/echo.wasm"), data.join("next.wasm")])
    }

    /// The folder for what it compiles that is warm after the first start.
    pub(crate) fn cache(&self) -> PathBuf {
        self.cache.clone().unwrap_or_else(|| self.at("cache"))
    }

    /// Whether this is what the recorded run says.
    pub(crate) fn is_replayed(&self, answer: &str) -> bool {
        answer == self.replayed
    }

    /// An agent's CLI as one would start it directly.
    pub(crate) fn cli(&self, agent: Agent) -> Command {
        let mut command = match agent {
            Agent::Echo | Agent::EchoDefault | Agent::EchoLarge => {
                let mut command = self.command(&self.program);
                command.arg("echo-agent");
                command
            }
            Agent::Replayed | Agent::ReplayedDefault | Agent::ReplayedLarge => self.command(&self.at("claude")),
            Agent::Computing => self.command(&self.at("computing")),
            Agent::Stamped => self.command(&self.at("stamped")),
        };
        if Agent::OF_LARGE.contains(&agent) {
            command.current_dir(self.at(LARGE));
        }
        command
    }

    /// A CLI that does nothing until the end of its input.
    pub(crate) fn idle_cli(&self) -> Command {
        let mut command = self.command(&self.at("stand-in"));
        command.args(["say", ""]);
        command
    }

    /// Number of bytes of the CLI's output up to the first text of its answer.
    pub(crate) fn first_text(&self, agent: Agent) -> usize {
        match agent {
            Agent::Replayed | Agent::ReplayedDefault | Agent::ReplayedLarge | Agent::Computing => self.first_delta,
            Agent::Echo | Agent::EchoDefault | Agent::EchoLarge | Agent::Stamped => 1,
        }
    }

    #[expect(clippy::disallowed_methods, reason = "programs are started as a user would")]
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.at("repository")).env_clear().env("PATH", &self.path).env("HOME", self.at("home"));
        command
    }
}

/// The arguments of the stand-in that prints stamps in deltas of Claude Code.
fn stamp(filler: &str, lines: u32, pace: u64) -> Vec<String> {
    let before = format!("{BEFORE}{filler} ");
    let form = ["stamp", "--before", &before, "--after", AFTER, "--last", RESULT].map(str::to_owned);
    form.into_iter().chain([lines.to_string(), pace.to_string()]).collect()
}

/// The text of a recorded run, as its plugin is known to read it.
fn replayed(recording: &Path) -> Result<String> {
    let golden: Value = serde_json::from_slice(&fs::read(recording.join("golden.json"))?)?;
    let events = golden["events"].as_array().context("no events")?;
    Ok(events.iter().filter_map(|event| event["text"].as_str()).collect())
}

#[expect(clippy::disallowed_methods, reason = "the git of the user who runs the benchmark")]
fn path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}
