//! The place where one program is measured: a home, a configuration and a repository of its own, and the CLIs behind it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
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

/// The arguments that put stamps into deltas of Claude Code: whole lines, which the host passes on at once.
const STAMP: [&str; 7] = [
    "stamp",
    "--before",
    r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":""#,
    "--after",
    r#""}}}"#,
    "--last",
    r#"{"type":"result","subtype":"success","is_error":false,"result":""}"#,
];

/// Number of files in the repository.
const FILES: usize = 10;

/// The folder of the large repository.
const LARGE: &str = "large";

/// A model, and the CLI behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The program's own, which prints its prompt.
    Echo,
    /// The same with the default `retries`.
    EchoDefault,
    /// The recorded run of a real CLI, without its waits.
    Replayed,
    /// The same with the default `retries`.
    ReplayedDefault,
    /// The same, after it has used the processor for some milliseconds.
    Computing,
    /// `EchoDefault` in a large repository.
    EchoLarge,
    /// `ReplayedDefault` in a large repository.
    ReplayedLarge,
    /// Deltas of Claude Code that say when they were printed.
    Stamped,
}

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
}

impl Agent {
    /// The agents that need no large repository.
    const USUAL: [Self; 6] =
        [Self::Echo, Self::EchoDefault, Self::Replayed, Self::ReplayedDefault, Self::Computing, Self::Stamped];

    const OF_LARGE: [Self; 2] = [Self::EchoLarge, Self::ReplayedLarge];

    /// The model's name.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::EchoDefault => "echo-default",
            Self::Replayed => "replayed",
            Self::ReplayedDefault => "replayed-default",
            Self::Computing => "computing",
            Self::EchoLarge => "echo-large",
            Self::ReplayedLarge => "replayed-large",
            Self::Stamped => "stamped",
        }
    }
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
        site.write_script("stamp", &site.stamp())?;
        repository::make(&site.at("repository"), FILES, || site.git())?;
        if site.has_large {
            repository::make(&site.at(LARGE), setup.plan.files, || site.git())?;
        }
        fs::write(site.at("work/proxy.toml"), site.configuration())?;
        Ok(site)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The arguments of the stand-in that prints stamps.
    fn stamp(&self) -> Vec<String> {
        let pace = [self.lines.to_string(), PACE.to_string()];
        STAMP.iter().map(|argument| (*argument).to_owned()).chain(pace).collect()
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

    /// Models with the default `retries` may need a check of the repository before and after a run.
    fn configuration(&self) -> String {
        let [repository, claude, computing, stamp] =
            ["repository", "claude", "computing", "stamp"].map(|name| toml_string(&self.at(name)));
        let usual = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\n\
             [defaults]\nrepo = {repository}\nretries = 0\nmax_repo_runs = 1000\n\
             [models.echo]\ndriver = \"echo\"\n\
             [models.echo-default]\ndriver = \"echo\"\nretries = 2\n\
             [models.replayed]\ndriver = \"claude\"\nprogram = {claude}\n\
             [models.replayed-default]\ndriver = \"claude\"\nprogram = {claude}\nretries = 2\n\
             [models.computing]\ndriver = \"claude\"\nprogram = {computing}\n\
             [models.stamped]\ndriver = \"claude\"\nprogram = {stamp}\n"
        );
        let repo = format!("repo = {}\nretries = 2\n", toml_string(&self.at(LARGE)));
        let of_large = format!(
            "[models.echo-large]\ndriver = \"echo\"\n{repo}\
             [models.replayed-large]\ndriver = \"claude\"\nprogram = {claude}\n{repo}"
        );
        if self.has_large { usual + &of_large } else { usual }
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
            Agent::Stamped => self.command(&self.at("stamp")),
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

fn toml_string(path: &Path) -> String {
    format!("'{}'", path.display())
}
