//! `plugin record`: runs a CLI as the host does, shows its output, and stores it as a recorded run without private data.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agentbay_config::Source;
use agentbay_domain::{EnvSetting, ExitStatus, KillReason, RunId, RunLimits, StreamName};
use agentbay_os::process::{Child, ChildEvent, Command, Variables, Watchdog, find, host_name};
use serde_json::{Value, json};

use super::error::KitError;
use super::fixture::{META, ReadAt, RecordedTurn, STDERR, STDOUT, killed};
use super::scrub::{Scrubber, Surroundings};

/// Options of `plugin record`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordOptions {
    /// The target folder, which must not exist. The default is `fixtures/PROGRAM`.
    pub out: Option<PathBuf>,
    /// A file with the text for standard input.
    pub stdin: Option<PathBuf>,
    /// A JSON file with the turn that the command line represents.
    pub turn: Option<PathBuf>,
    /// Variables for the CLI in addition to those that the host passes.
    pub env: Vec<(String, EnvSetting)>,
    /// The program: a name on PATH or a file.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The time limit.
    pub timeout: Option<Duration>,
}

/// A stored recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The folder.
    pub folder: PathBuf,
    /// How the CLI ended.
    pub exit: ExitStatus,
    /// Number of redactions by kind.
    pub scrubbed: BTreeMap<String, usize>,
}

/// The output of one stream so far.
#[derive(Debug, Default)]
struct Stream {
    bytes: Vec<u8>,
    reads: Vec<ReadAt>,
}

/// The output of a process so far.
#[derive(Debug, Default)]
struct Captured {
    stdout: Stream,
    stderr: Stream,
}

/// A process that has ended, with its output.
struct FinishedProcess {
    captured: Captured,
    exit: ExitStatus,
    wall: Duration,
}

/// Records a run. Output is passed to `pass_on` as it arrives. `stop` and the time limit end the CLI; the output until then is
/// kept.
///
/// # Errors
/// See [`KitError`].
pub async fn record(
    source: &Source,
    options: &RecordOptions,
    stop: impl Future<Output = ()>,
    mut pass_on: impl FnMut(StreamName, &[u8]) -> io::Result<()>,
) -> Result<Recorded, KitError> {
    let folder = options.folder();
    if folder.exists() {
        return Err(KitError::Exists(folder));
    }
    let turn = options.turn.as_deref().map(read_turn).transpose()?;
    let stdin = match &options.stdin {
        Some(path) => Some(fs::read_to_string(path).map_err(KitError::file(path))?),
        None => None,
    };
    let command = options.command(source)?;
    // Without a watchdog everything works, except that the CLI outlives a killed host.
    let _watchdog = Watchdog::start().inspect_err(|error| tracing::warn!(%error, "no watchdog")).ok();
    let mut child = Child::spawn(command)?;
    child.write(stdin.clone().unwrap_or_default());
    child.close_input();
    let since = Instant::now();
    let mut captured = Captured::default();
    let exit = tokio::select! {
        exit = captured.read_until_exit(&mut child, since, &mut pass_on) => exit?,
        () = stop => ExitStatus::Killed(KillReason::Cancelled),
        () = after(options.timeout) => ExitStatus::Killed(KillReason::Timeout),
    };
    let wall = since.elapsed();
    child.stop().await;
    options.keep(source, FinishedProcess { captured, exit, wall }, stdin, turn)
}

/// Waits for a duration, or forever if there is none.
async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

impl Captured {
    /// Reads until the process ends.
    async fn read_until_exit(
        &mut self,
        child: &mut Child,
        since: Instant,
        pass_on: &mut impl FnMut(StreamName, &[u8]) -> io::Result<()>,
    ) -> Result<ExitStatus, KitError> {
        let most = RunLimits::default().output;
        loop {
            match child.next().await {
                ChildEvent::Output(source, bytes) => {
                    pass_on(source, &bytes).map_err(KitError::Show)?;
                    match source {
                        StreamName::Stdout => self.stdout.take(&bytes, since),
                        StreamName::Stderr => self.stderr.take(&bytes, since),
                    }
                    if (self.stdout.bytes.len() + self.stderr.bytes.len()) as u64 > most {
                        return Err(KitError::TooMuch { most });
                    }
                }
                ChildEvent::Exited(exit) => return Ok(exit),
            }
        }
    }
}

impl Stream {
    fn take(&mut self, bytes: &[u8], since: Instant) {
        self.bytes.extend_from_slice(bytes);
        self.reads.push(ReadAt { ms: millis(since.elapsed()), bytes: bytes.len() });
    }

    fn scrub(self, scrubber: &mut Scrubber) -> Self {
        let ends = self.reads.iter().scan(0, |end, read| {
            *end += read.bytes;
            Some(*end)
        });
        let mut ends: Vec<usize> = ends.collect();
        let bytes = scrubber.scrub(self.bytes, &mut ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let lengths = ends.iter().zip(starts).map(|(end, start)| end - start);
        let reads = self.reads.iter().zip(lengths).map(|(read, bytes)| ReadAt { bytes, ..*read }).collect();
        Self { bytes, reads }
    }
}

impl RecordOptions {
    fn folder(&self) -> PathBuf {
        let name = Path::new(&self.program).file_name().unwrap_or_default();
        self.out.clone().unwrap_or_else(|| Path::new("fixtures").join(name))
    }

    /// The command as the host starts a CLI: in its own session, without a shell, with few of the user's variables.
    fn command(&self, source: &Source) -> Result<Command, KitError> {
        let host = &source.environment;
        let is_path = self.program.contains('/');
        let program = if is_path { source.cwd.join(&self.program) } else { PathBuf::from(&self.program) };
        let executable = find(&program, source.environment.path())?;
        let mut variables = Variables::base(host);
        variables.configure(&self.env, host);
        Ok(Command {
            executable,
            args: self.args.clone(),
            workdir: source.cwd.clone(),
            variables,
            run: Some(RunId::new()),
            grace: RunLimits::default().exit_grace,
            pipe_silence: RunLimits::default().open_pipe_timeout,
        })
    }

    /// Writes the run into its folder. `meta.json` is last, since a folder without it is not a recorded run.
    fn keep(
        &self,
        source: &Source,
        ran: FinishedProcess,
        stdin: Option<String>,
        turn: Option<Value>,
    ) -> Result<Recorded, KitError> {
        let machine = host_name();
        let mut around = surroundings(source, machine.as_deref());
        around.variables.extend(self.env.iter().filter_map(|(name, setting)| match setting {
            EnvSetting::Set(value) => Some((name.as_str(), value.as_str())),
            EnvSetting::Pass | EnvSetting::Remove => None,
        }));
        let mut scrubber = Scrubber::new(&around).map_err(KitError::Scrub)?;
        let FinishedProcess { captured: Captured { stdout, stderr }, exit, wall } = ran;
        let (stdout, stderr) = (stdout.scrub(&mut scrubber), stderr.scrub(&mut scrubber));
        let argv: Vec<String> =
            std::iter::once(&self.program).chain(&self.args).map(|arg| scrubber.scrub_text(arg)).collect();
        let (code, signal) = match exit {
            ExitStatus::Code(code) => (Some(code), None),
            ExitStatus::Signal(signal) => (None, Some(signal)),
            ExitStatus::Killed(_) => (None, None),
        };
        let mut meta = vec![
            ("cli", json!(Path::new(&self.program).file_name().unwrap_or_default().to_string_lossy())),
            ("argv", json!(argv)),
            ("exit_code", json!(code)),
            ("signal", json!(signal)),
            ("wall_ms", json!(millis(wall))),
            ("stdout_reads", json!(stdout.reads)),
            ("stderr_reads", json!(stderr.reads)),
        ];
        meta.extend(killed(exit).map(|why| ("killed", json!(why))));
        meta.extend(stdin.map(|text| ("stdin", json!(scrubber.scrub_text(&text)))));
        meta.extend(turn.map(|turn| ("turn", turn)));
        let folder = self.folder();
        fs::create_dir_all(&folder).map_err(KitError::file(&folder))?;
        let meta = lines(&meta);
        for (name, bytes) in [(STDOUT, &stdout.bytes[..]), (STDERR, &stderr.bytes), (META, meta.as_bytes())] {
            let path = folder.join(name);
            fs::write(&path, bytes).map_err(KitError::file(path))?;
        }
        Ok(Recorded { folder, exit, scrubbed: scrubber.found() })
    }
}

/// A JSON object with one readable line for each key.
fn lines(object: &[(&str, Value)]) -> String {
    let lines: Vec<String> = object.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn surroundings<'a>(source: &'a Source, host_name: Option<&'a str>) -> Surroundings<'a> {
    let text = |name: &str| source.environment.get(name).and_then(|value| value.to_str());
    let variables = source.environment.iter();
    Surroundings {
        home: text("HOME").map(Path::new),
        workdir: Some(&source.cwd),
        user: text("USER").or_else(|| text("LOGNAME")),
        host_name,
        variables: variables.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?))).collect(),
    }
}

/// The turn as written in the file, after a check that it can be parsed.
fn read_turn(path: &Path) -> Result<Value, KitError> {
    let text = fs::read(path).map_err(KitError::file(path))?;
    let wrong = |error: serde_json::Error| KitError::Meta { path: path.to_owned(), reason: error.to_string() };
    let _valid: RecordedTurn = serde_json::from_slice(&text).map_err(wrong)?;
    serde_json::from_slice(&text).map_err(wrong)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
