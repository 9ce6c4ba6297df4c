//! A process while it runs: what it says, what is said to it, and its end, with everything it started.
//!
//! Every process leads a group of its own, so that it and its descendants can be ended together. There are no tasks
//! and no buffers beyond the pipes: whoever does not ask for the next sign holds the process back.

use std::collections::VecDeque;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Instant, sleep_until, timeout};

use super::apart::set_apart;
use super::environment::Variables;
use super::error::SpawnError;
use super::mark::{self, Mark};
use super::orphans;
use super::pipe;
use super::program::Executable;
use super::size;
use crate::domain::{ExitStatus, RunId, StreamName};

/// How many bytes are read at once at the most.
pub const CHUNK: usize = 64 * 1024;

/// Everything a process is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The file to start.
    pub executable: Executable,
    /// Its arguments.
    pub args: Vec<String>,
    /// The directory it runs in.
    pub workdir: PathBuf,
    /// Its whole environment.
    pub variables: Variables,
    /// The run that it is started for, if it is for one: all it starts bears the run's mark, and ends with it.
    pub run: Option<RunId>,
    /// How long its streams may stay open after its end, and how long it may take to end when asked to.
    pub grace: Duration,
}

/// What a process gives a sign of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sign {
    /// It said something.
    Output(StreamName, Bytes),
    /// It ended, and nothing more will be heard of it.
    Exited(ExitStatus),
}

/// A process while it runs.
#[derive(Debug)]
pub struct Child {
    group: Box<dyn ChildWrapper>,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    to_write: VecDeque<Bytes>,
    /// Standard input is to be closed once all is written.
    closing: bool,
    exited: Option<Exit>,
    /// The group has been killed: its number may be another's by now.
    killed: bool,
    run: Option<RunId>,
    grace: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Exit {
    status: ExitStatus,
    /// Until when its streams are listened to: a descendant may hold them open for ever.
    deaf_from: Instant,
}

impl Child {
    /// Starts a process.
    ///
    /// # Errors
    /// See [`SpawnError`].
    pub fn spawn(command: Command) -> Result<Self, SpawnError> {
        if !command.workdir.is_dir() {
            return Err(SpawnError::Workdir(command.workdir));
        }
        size::check(&command)?;
        let program = command.executable.path().to_owned();
        let mut wrap = CommandWrap::with_new(&program, |process| {
            process
                .args(&command.args)
                .current_dir(&command.workdir)
                .env_clear()
                .envs(command.variables.iter())
                .envs(command.run.map(|run| (mark::VARIABLE, Mark::of(run).to_string())))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        set_apart(&mut wrap).wrap(KillOnDrop);
        let mut group = wrap.spawn().map_err(|error| SpawnError::Refused { program, error })?;
        let (stdin, stdout, stderr) = (group.stdin().take(), group.stdout().take(), group.stderr().take());
        if let Some(stdout) = &stdout {
            pipe::enlarge(stdout);
        }
        let (run, grace) = (command.run, command.grace);
        let to_write = VecDeque::new();
        Ok(Self { group, stdin, stdout, stderr, to_write, closing: false, exited: None, killed: false, run, grace })
    }

    /// Puts this into the queue for standard input. It is written while signs are waited for.
    pub fn write(&mut self, input: impl Into<Bytes>) {
        let input = input.into();
        if self.stdin.is_some() && !self.closing && !input.is_empty() {
            self.to_write.push_back(input);
        }
    }

    /// Closes standard input once all that is queued is written.
    pub fn close_input(&mut self) {
        self.closing = true;
        self.close_if_done();
    }

    /// The next sign of life; [`Sign::Exited`] is the last and stays. May be dropped and called again at any time.
    pub async fn next(&mut self) -> Sign {
        loop {
            let deaf_from = self.exited.map(|exit| exit.deaf_from);
            if let Some(exit) = self.exited
                && self.stdout.is_none()
                && self.stderr.is_none()
            {
                return Sign::Exited(exit.status);
            }
            tokio::select! {
                read = read_some(&mut self.stdout) => match read {
                    Some(bytes) => return Sign::Output(StreamName::Stdout, bytes),
                    None => self.stdout = None,
                },
                read = read_some(&mut self.stderr) => match read {
                    Some(bytes) => return Sign::Output(StreamName::Stderr, bytes),
                    None => self.stderr = None,
                },
                written = write_some(&mut self.stdin, &self.to_write) => self.wrote(&written),
                status = self.group.wait(), if deaf_from.is_none() => {
                    self.exited = Some(Exit { status: exit_status(status), deaf_from: later(self.grace) });
                }
                () = sleep_until(deaf_from.unwrap_or_else(Instant::now)), if deaf_from.is_some() => {
                    (self.stdout, self.stderr) = (None, None);
                }
            }
        }
    }

    /// Gives the process time to end by itself, no longer listening to what it says, then ends it and all it started.
    pub async fn settle(mut self) {
        self.close_input();
        if !self.ends_in_time().await {
            self.terminate().await;
        }
        self.kill_group().await;
    }

    /// Ends the process and all it started: asks first, and insists after the grace time.
    pub async fn stop(mut self) {
        self.terminate().await;
        self.kill_group().await;
    }

    async fn terminate(&mut self) {
        const SIGTERM: i32 = 15;
        if self.exited.is_none() && self.group.signal(SIGTERM).is_ok() {
            self.ends_in_time().await;
        }
    }

    /// Waits for the end for as long as the grace time. What is still said is lost.
    async fn ends_in_time(&mut self) -> bool {
        let grace = self.grace;
        let ended = async { while !matches!(self.next().await, Sign::Exited(_)) {} };
        timeout(grace, ended).await.is_ok()
    }

    /// Kills what is left of the group, the leader's descendants too, and reaps the leader.
    async fn kill_group(&mut self) {
        // An error means that nothing is left.
        let _nothing_left = self.group.start_kill();
        self.killed = true;
        if let Err(error) = self.group.wait().await {
            tracing::warn!(%error, "cannot wait for a process that was killed");
        }
        self.kill_strays().await;
    }

    /// Kills those that have left the group, as a daemon does.
    async fn kill_strays(&self) {
        let Some(run) = self.run else { return };
        // All processes of the machine are looked at, which takes milliseconds.
        match tokio::task::spawn_blocking(move || orphans::kill_rest_of(run)).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "processes that the CLI had detached were killed"),
            Err(error) => tracing::warn!(%error, "cannot look for what the CLI left running"),
        }
    }

    fn wrote(&mut self, written: &io::Result<usize>) {
        match written {
            Ok(count) => {
                if let Some(front) = self.to_write.front_mut() {
                    front.advance(*count);
                    if front.is_empty() {
                        self.to_write.pop_front();
                    }
                }
                self.close_if_done();
            }
            // The process does not want to hear more. Whether that is a failure, its exit will tell.
            Err(_) => {
                self.stdin = None;
                self.to_write.clear();
            }
        }
    }

    fn close_if_done(&mut self) {
        if self.closing && self.to_write.is_empty() {
            self.stdin = None;
        }
    }
}

impl Drop for Child {
    /// For a run that is dropped rather than ended, as when the runtime goes down.
    fn drop(&mut self) {
        if !self.killed {
            let _nothing_left = self.group.start_kill();
        }
    }
}

/// The moment after a time, which may be longer than the clock can count.
fn later(time: Duration) -> Instant {
    const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);
    Instant::now() + time.min(A_DAY)
}

async fn read_some(stream: &mut Option<impl AsyncRead + Unpin>) -> Option<Bytes> {
    match stream {
        Some(stream) => {
            let mut chunk = BytesMut::with_capacity(CHUNK);
            match stream.read_buf(&mut chunk).await {
                Ok(0) | Err(_) => None,
                Ok(_) => Some(chunk.freeze()),
            }
        }
        None => std::future::pending().await,
    }
}

async fn write_some(stdin: &mut Option<ChildStdin>, queue: &VecDeque<Bytes>) -> io::Result<usize> {
    match (stdin, queue.front()) {
        (Some(stdin), Some(front)) => stdin.write(front).await,
        _ => std::future::pending().await,
    }
}

fn exit_status(status: io::Result<std::process::ExitStatus>) -> ExitStatus {
    /// What shells say of a process whose end nobody saw.
    const UNKNOWN: i32 = 127;
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => ExitStatus::Code(code),
            (None, Some(signal)) => ExitStatus::Signal(signal),
            (None, None) => ExitStatus::Code(UNKNOWN),
        },
        Err(error) => {
            tracing::warn!(%error, "cannot tell how a process ended");
            ExitStatus::Code(UNKNOWN)
        }
    }
}
