//! A running process: its output, its input, and its end, with all its descendants.
//!
//! Every process leads its own group, so that it and its descendants can be ended together. There are no tasks and no
//! buffers beyond the pipes: a caller that does not request the next event holds the process back.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use agentbay_domain::{ExitStatus, StreamName};
use bytes::{Bytes, BytesMut};
use process_wrap::std::CommandWrap;
use rustix::io::ioctl_fionread;
use rustix::process::Signal;
use tokio::net::unix::pipe::Receiver;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until, timeout};

use super::command::Command;
use super::error::SpawnError;
use super::input::Input;
use super::leader::Leader;
use super::obstacle::Obstacle;
use super::pipe;
use super::remains::Remains;
use super::run_tag::{self, RunTag};
use super::session::detach;
use super::size;

/// Maximum number of bytes that are read at once.
pub const CHUNK: usize = 64 * 1024;

/// An event of a child process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildEvent {
    /// It printed something.
    Output(StreamName, Bytes),
    /// It ended, and no more output follows.
    Exited(ExitStatus),
}

/// A running process.
#[derive(Debug)]
pub struct Child {
    program: PathBuf,
    leader: Leader,
    input: Input,
    stdout: Option<Receiver>,
    stderr: Option<Receiver>,
    /// Bytes that may wait to be written before output is held back.
    max_waiting: usize,
    exited: Option<Exit>,
    /// Its output is discarded from now on.
    output_discarded: bool,
    /// What remains of the run that it was started for, until that has been killed.
    remains: Option<Remains>,
    grace: Duration,
    pipe_silence: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Exit {
    status: ExitStatus,
    /// Deadline for output of descendants that hold its pipes open.
    until: Instant,
    /// The same while nothing arrives. Counted from the first wait for output: the reader may have been busy.
    silent_until: Option<Instant>,
    /// Bytes that it had printed before its end and that have not been read yet.
    unread: Unread,
}

/// Bytes left in the pipes.
#[derive(Debug, Clone, Copy)]
struct Unread {
    stdout: u64,
    stderr: u64,
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
                .envs(command.run.map(|run| (run_tag::VARIABLE, RunTag::of(run).to_string())))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        let refused = |error: io::Error| {
            let obstacle = Obstacle::of(&program, &command.workdir, &error);
            SpawnError::Refused { program: program.clone(), obstacle }
        };
        let (leader, mut pipes) = Leader::start(detach(&mut wrap)).map_err(refused)?;
        let Command { run, grace, pipe_silence, .. } = command;
        let remains = run.map(|run| Remains::of(run, leader.pid()));
        // From here on the process is ended if it cannot be used.
        let mut child = Self {
            program: program.clone(),
            leader,
            input: Input::of(None),
            stdout: None,
            stderr: None,
            max_waiting: usize::MAX,
            exited: None,
            output_discarded: false,
            remains,
            grace,
            pipe_silence,
        };
        child.input = Input::of(pipes.stdin().take().map(pipe::sender).transpose().map_err(refused)?);
        child.stdout = pipes.stdout().take().map(pipe::receiver).transpose().map_err(refused)?;
        child.stderr = pipes.stderr().take().map(pipe::receiver).transpose().map_err(refused)?;
        if let Some(stdout) = &child.stdout {
            pipe::enlarge(stdout);
        }
        Ok(child)
    }

    /// Adds bytes to the queue for standard input. They are written while events are waited for.
    pub fn write(&mut self, input: impl Into<Bytes>) {
        self.input.push(input.into());
    }

    /// Closes standard input once the queue is written.
    pub fn close_input(&mut self) {
        self.input.close();
    }

    /// From here on, output is held back while more than `max` bytes wait to be written, besides those that wait now: output
    /// of a process that does not read its input is not read either.
    pub fn limit_input(&mut self, max: u64) {
        self.max_waiting = self.input.waiting().saturating_add(usize::try_from(max).unwrap_or(usize::MAX));
    }

    /// The obstacle that the program's file shows now, for a process that ended the way a launcher does when it cannot start
    /// the program.
    pub fn obstacle(&self) -> Option<SpawnError> {
        let obstacle = Obstacle::in_file(&self.program)?;
        Some(SpawnError::Refused { program: self.program.clone(), obstacle })
    }

    /// Whether its output is held back because it does not read its input.
    pub fn is_held_back(&self) -> bool {
        self.exited.is_none() && !self.output_discarded && self.input.waiting() > self.max_waiting
    }

    /// The next event; [`ChildEvent::Exited`] is the last and repeats. Cancel-safe.
    pub async fn next(&mut self) -> ChildEvent {
        loop {
            if let Some(exit) = self.exited
                && self.stdout.is_none()
                && self.stderr.is_none()
            {
                return ChildEvent::Exited(exit.status);
            }
            let (reading, read_deadline) = (!self.is_held_back(), self.read_deadline());
            tokio::select! {
                read = read_some(&mut self.stdout), if reading => match read {
                    Some(bytes) => return self.output(StreamName::Stdout, bytes),
                    None => self.stdout = None,
                },
                read = read_some(&mut self.stderr), if reading => match read {
                    Some(bytes) => return self.output(StreamName::Stderr, bytes),
                    None => self.stderr = None,
                },
                () = self.input.write_some() => {}
                status = self.leader.exit(), if self.exited.is_none() => self.has_exited(status),
                () = sleep_until(read_deadline.unwrap_or_else(Instant::now)), if read_deadline.is_some() => {
                    (self.stdout, self.stderr) = (None, None);
                }
            }
        }
    }

    fn output(&mut self, source: StreamName, bytes: Bytes) -> ChildEvent {
        if let Some(exit) = &mut self.exited {
            exit.silent_until = None;
            let unread = match source {
                StreamName::Stdout => &mut exit.unread.stdout,
                StreamName::Stderr => &mut exit.unread.stderr,
            };
            *unread = unread.saturating_sub(bytes.len() as u64);
        }
        ChildEvent::Output(source, bytes)
    }

    fn has_exited(&mut self, status: ExitStatus) {
        if self.output_discarded {
            (self.stdout, self.stderr) = (None, None);
        }
        let stdout = self.stdout.as_ref().map_or(0, |pipe| ioctl_fionread(pipe).unwrap_or(0));
        let stderr = self.stderr.as_ref().map_or(0, |pipe| ioctl_fionread(pipe).unwrap_or(0));
        let unread = Unread { stdout, stderr };
        self.exited = Some(Exit { status, until: later(self.grace), silent_until: None, unread });
    }

    /// Deadline for reading its pipes after its exit. Output that it printed itself is read in any case.
    fn read_deadline(&mut self) -> Option<Instant> {
        let exit = self.exited.as_mut()?;
        let is_left = |pipe: bool, bytes: u64| pipe && bytes > 0;
        if is_left(self.stdout.is_some(), exit.unread.stdout) || is_left(self.stderr.is_some(), exit.unread.stderr) {
            return None;
        }
        let silent_until = *exit.silent_until.get_or_insert_with(|| later(self.pipe_silence));
        Some(silent_until.min(exit.until))
    }

    /// Discards further output and gives the process half of the grace time to end by itself; then asks it to end, and kills
    /// it and all its descendants when the grace time is over. Returns its exit status.
    pub async fn finish(mut self) -> ExitStatus {
        self.close_input();
        let by_itself = self.grace / 2;
        if !self.ends_within(by_itself).await {
            self.terminate(self.grace - by_itself).await;
        }
        self.kill_group().await
    }

    /// Ends the process and all its descendants: asks first, and kills after the grace time. Returns its exit status.
    pub async fn stop(mut self) -> ExitStatus {
        self.terminate(self.grace).await;
        self.kill_group().await
    }

    async fn terminate(&mut self, limit: Duration) {
        if self.exited.is_none() && self.leader.signal_group(Signal::TERM) {
            self.ends_within(limit).await;
        }
    }

    /// Waits for the end, at most for `limit`. Output is discarded from here on.
    async fn ends_within(&mut self, limit: Duration) -> bool {
        self.output_discarded = true;
        let ended = async { while !matches!(self.next().await, ChildEvent::Exited(_)) {} };
        timeout(limit, ended).await.is_ok()
    }

    /// Kills the rest of the group, including the leader's descendants, and reaps the leader.
    async fn kill_group(&mut self) -> ExitStatus {
        self.leader.signal_group(Signal::KILL);
        let status = match self.exited {
            Some(exit) => exit.status,
            None => self.leader.exit().await,
        };
        self.leader.reap();
        self.kill_remains().await;
        status
    }

    /// Kills descendants that have left the group, as daemons do.
    async fn kill_remains(&mut self) {
        let Some(remains) = self.remains else { return };
        if remains.may_exist() {
            // Waits until they have ended.
            match tokio::task::spawn_blocking(move || remains.kill()).await {
                Ok(0) => {}
                Ok(count) => tracing::info!(count, "processes that the CLI had detached were killed"),
                Err(error) => tracing::warn!(%error, "cannot search for processes that the CLI left running"),
            }
        }
        self.remains = None;
    }
}

impl Drop for Child {
    /// For a process that is dropped rather than ended, as when nobody waits for its end any more, or the runtime shuts
    /// down.
    fn drop(&mut self) {
        let ended_by_itself = self.exited.is_some() && !self.output_discarded;
        self.leader.signal_group(Signal::KILL);
        if self.exited.is_some() {
            self.leader.reap();
        }
        if !ended_by_itself && let (Some(remains), Ok(runtime)) = (self.remains, Handle::try_current()) {
            runtime.spawn_blocking(move || remains.kill_after_leader());
        }
    }
}

/// The instant after a duration, which may exceed the range of the clock.
fn later(time: Duration) -> Instant {
    const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);
    Instant::now() + time.min(A_DAY)
}

/// Reads what is there, without memory while nothing is. `None` at the end.
async fn read_some(pipe: &mut Option<Receiver>) -> Option<Bytes> {
    let Some(pipe) = pipe else { return std::future::pending().await };
    loop {
        pipe.readable().await.ok()?;
        let there = ioctl_fionread(&pipe).unwrap_or(0);
        let mut chunk = BytesMut::with_capacity(usize::try_from(there).unwrap_or(CHUNK).clamp(1, CHUNK));
        match pipe.try_read_buf(&mut chunk) {
            Ok(0) => return None,
            Ok(_) => return Some(chunk.freeze()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
}
