//! `plugin record`: runs a CLI as the host would, lets the user see what it prints, and keeps that as a recorded run from
//! which what is nobody's business is taken out.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agentbay_config::Source;
use agentbay_domain::{EnvSetting, ExitStatus, KillReason, RunId, RunLimits, StreamName};
use agentbay_os::process::{Child, Command, Guard, Sign, Variables, find, host_name};
use serde_json::{Value, json};

use super::error::AuthorError;
use super::fixture::{META, ReadAt, RecordedTurn, STDERR, STDOUT, killed};
use super::scrub::{Scrubber, Surroundings};

/// The run that is to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The folder it is put into, which must not be there. Without one it is `fixtures/PROGRAM`.
    pub out: Option<PathBuf>,
    /// A file with what is written to standard input.
    pub stdin: Option<PathBuf>,
    /// A file with the turn that the command line stands for, as JSON.
    pub turn: Option<PathBuf>,
    /// Variables for the CLI besides those which the host gives.
    pub env: Vec<(String, EnvSetting)>,
    /// The program, as a name on PATH or a file.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// How long it may run.
    pub timeout: Option<Duration>,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The folder.
    pub folder: PathBuf,
    /// How the CLI ended.
    pub exit: ExitStatus,
    /// What was taken out, and how often.
    pub scrubbed: BTreeMap<String, usize>,
}

/// One stream as it came.
#[derive(Debug, Default)]
struct Stream {
    bytes: Vec<u8>,
    reads: Vec<ReadAt>,
}

/// What a process has printed so far.
#[derive(Debug, Default)]
struct Heard {
    stdout: Stream,
    stderr: Stream,
}

/// What came of a process.
struct Ran {
    heard: Heard,
    exit: ExitStatus,
    wall: Duration,
}

/// Records a run. What the CLI prints is handed over as it comes. `stop` ends the CLI, and so does the end of its time: what it
/// has printed until then is kept.
///
/// # Errors
/// See [`AuthorError`].
pub async fn record(
    source: &Source,
    wanted: &Recording,
    stop: impl Future<Output = ()>,
    mut pass_on: impl FnMut(StreamName, &[u8]) -> io::Result<()>,
) -> Result<Recorded, AuthorError> {
    let folder = wanted.folder();
    if folder.exists() {
        return Err(AuthorError::Exists(folder));
    }
    let turn = wanted.turn.as_deref().map(read_turn).transpose()?;
    let stdin = match &wanted.stdin {
        Some(path) => Some(fs::read_to_string(path).map_err(AuthorError::file(path))?),
        None => None,
    };
    let command = wanted.command(source)?;
    // Without one everything works, but for a host that is killed.
    let _guard = Guard::start().inspect_err(|error| tracing::warn!(%error, "no guard")).ok();
    let mut child = Child::spawn(command)?;
    child.write(stdin.clone().unwrap_or_default());
    child.close_input();
    let since = Instant::now();
    let mut heard = Heard::default();
    let exit = tokio::select! {
        exit = heard.listen(&mut child, since, &mut pass_on) => exit?,
        () = stop => ExitStatus::Killed(KillReason::Cancelled),
        () = after(wanted.timeout) => ExitStatus::Killed(KillReason::Timeout),
    };
    let wall = since.elapsed();
    child.stop().await;
    wanted.keep(source, Ran { heard, exit, wall }, stdin, turn)
}

/// Waits until the time is over, for ever if there is no end to it.
async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

impl Heard {
    /// Listens until the process ends.
    async fn listen(
        &mut self,
        child: &mut Child,
        since: Instant,
        pass_on: &mut impl FnMut(StreamName, &[u8]) -> io::Result<()>,
    ) -> Result<ExitStatus, AuthorError> {
        let most = RunLimits::default().output;
        loop {
            match child.next().await {
                Sign::Output(source, bytes) => {
                    pass_on(source, &bytes).map_err(AuthorError::Show)?;
                    match source {
                        StreamName::Stdout => self.stdout.take(&bytes, since),
                        StreamName::Stderr => self.stderr.take(&bytes, since),
                    }
                    if (self.stdout.bytes.len() + self.stderr.bytes.len()) as u64 > most {
                        return Err(AuthorError::TooMuch { most });
                    }
                }
                Sign::Exited(exit) => return Ok(exit),
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

impl Recording {
    fn folder(&self) -> PathBuf {
        let name = Path::new(&self.program).file_name().unwrap_or_default();
        self.out.clone().unwrap_or_else(|| Path::new("fixtures").join(name))
    }

    /// As the host starts a CLI: set apart from this process, without a shell, with few of the user's variables.
    fn command(&self, source: &Source) -> Result<Command, AuthorError> {
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
            grace: RunLimits::default().grace,
            pipe_silence: RunLimits::default().pipe_silence,
        })
    }

    /// Writes the run into its folder, the description last: without it, it is no recorded run.
    fn keep(
        &self,
        source: &Source,
        ran: Ran,
        stdin: Option<String>,
        turn: Option<Value>,
    ) -> Result<Recorded, AuthorError> {
        let machine = host_name();
        let mut around = surroundings(source, machine.as_deref());
        around.variables.extend(self.env.iter().filter_map(|(name, setting)| match setting {
            EnvSetting::Set(value) => Some((name.as_str(), value.as_str())),
            EnvSetting::Pass | EnvSetting::Remove => None,
        }));
        let mut scrubber = Scrubber::new(&around).map_err(AuthorError::Scrub)?;
        let Ran { heard: Heard { stdout, stderr }, exit, wall } = ran;
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
        fs::create_dir_all(&folder).map_err(AuthorError::file(&folder))?;
        let meta = lines(&meta);
        for (name, bytes) in [(STDOUT, &stdout.bytes[..]), (STDERR, &stderr.bytes), (META, meta.as_bytes())] {
            let path = folder.join(name);
            fs::write(&path, bytes).map_err(AuthorError::file(path))?;
        }
        Ok(Recorded { folder, exit, scrubbed: scrubber.found() })
    }
}

/// An object with one key a line, so that it can be read, and long lists in one.
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

/// A turn is kept as it was written, if it can be understood.
fn read_turn(path: &Path) -> Result<Value, AuthorError> {
    let text = fs::read(path).map_err(AuthorError::file(path))?;
    let wrong = |error: serde_json::Error| AuthorError::Meta { path: path.to_owned(), reason: error.to_string() };
    let _understood: RecordedTurn = serde_json::from_slice(&text).map_err(wrong)?;
    serde_json::from_slice(&text).map_err(wrong)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
