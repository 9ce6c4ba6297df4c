//! The place where one program is measured: a home, a configuration and a repository of its own, and the CLIs behind it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::server::Server;
use crate::{Binary, Setup};

/// What every run is asked.
pub(crate) const PROMPT: &str = "one two three";

/// The recorded run, and what the lines of its deltas hold.
const RECORDING: &str = "claude/markdown";
const DELTA: &str = "\"text_delta\"";

/// Milliseconds between two stamped lines: long enough that each is a delta of its own.
const PACE: u64 = 2;

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

/// A model, and the CLI behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The program's own, which prints its prompt.
    Echo,
    /// The same with the default settings.
    Usual,
    /// The recorded run of a real CLI, without its waits.
    Replayed,
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
}

impl Agent {
    /// The model's name.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Usual => "usual",
            Self::Replayed => "replayed",
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
            first_delta: delta + recorded[delta..].find('\n').context("an open line")?,
        };
        for folder in ["home", "work", "repository"] {
            fs::create_dir(site.at(folder))?;
        }
        symlink(&setup.stand_in, site.at("stand-in"))?;
        let recording = recording.display().to_string();
        site.write_script("claude", &["replay", "--speed", "1000000", &recording].map(str::to_owned))?;
        site.write_script("stamp", &site.stamp())?;
        site.make_repository()?;
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

    fn make_repository(&self) -> Result<()> {
        for number in 0..FILES {
            fs::write(self.at("repository").join(format!("{number}.txt")), format!("file {number}\n"))?;
        }
        let user = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
        self.git(&["init", "--quiet"])?;
        self.git(&["add", "."])?;
        self.git(&[&user[..], &["commit", "--quiet", "--message", "Files"]].concat())
    }

    fn git(&self, args: &[&str]) -> Result<()> {
        let status = self.command(Path::new("git")).args(args).status()?;
        ensure!(status.success(), "git {args:?} ends with {status}");
        Ok(())
    }

    /// Only `usual` checks the repository before and after a run, because it may be retried.
    fn configuration(&self) -> String {
        let [repository, claude, stamp] = ["repository", "claude", "stamp"].map(|name| toml_string(&self.at(name)));
        format!(
            "[server]\nlisten = \"127.0.0.1:0\"\n\
             [defaults]\nrepo = {repository}\nretries = 0\nmax_repo_runs = 1000\n\
             [models.echo]\ndriver = \"echo\"\n\
             [models.usual]\ndriver = \"echo\"\nretries = 2\n\
             [models.replayed]\ndriver = \"claude\"\nprogram = {claude}\n\
             [models.stamped]\ndriver = \"claude\"\nprogram = {stamp}\n"
        )
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
        match agent {
            Agent::Echo | Agent::Usual => {
                let mut command = self.command(&self.program);
                command.arg("echo-agent");
                command
            }
            Agent::Replayed => self.command(&self.at("claude")),
            Agent::Stamped => self.command(&self.at("stamp")),
        }
    }

    /// Number of bytes of the CLI's output up to the first text of its answer.
    pub(crate) fn first_text(&self, agent: Agent) -> usize {
        if agent == Agent::Replayed { self.first_delta } else { 1 }
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
