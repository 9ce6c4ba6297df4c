//! A process while it runs: what it says, what is said to it, and its end, with everything it started.
//!
//! Every process leads a group of its own, so that it and its descendants can be ended together. There are no tasks
//! and no buffers beyond the pipes: whoever does not ask for the next sign holds the process back.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use agentbay_domain::{ExitStatus, RunId, StreamName};
use bytes::{Bytes, BytesMut};
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use rustix::io::ioctl_fionread;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until, timeout};

use super::apart::set_apart;
use super::birth::Birth;
use super::command::Command;
use super::ending::Ending;
use super::error::SpawnError;
use super::input::Input;
use super::mark::{self, Mark};
use super::obstacle::Obstacle;
use super::orphans;
use super::pipe;
use super::size;

/// How many bytes are read at once at the most.
pub const CHUNK: usize = 64 * 1024;

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
    program: PathBuf,
    group: Box<dyn ChildWrapper>,
    ending: Ending,
    input: Input,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// So much may wait to be written before output is held back.
    most_waiting: usize,
    exited: Option<Exit>,
    /// Nobody listens to it any more.
    unheard: bool,
    /// The group has been killed, and its leader reaped: its number may be another's by now.
    killed: bool,
    /// The run that it was started for, until those that left the group have been killed.
    run: Option<RunId>,
    birth: Option<Birth>,
    grace: Duration,
    pipe_silence: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Exit {
    status: ExitStatus,
    /// Until when descendants are listened to that hold its streams open.
    until: Instant,
    /// The same if nothing comes. Counted from when it is first waited for: the listener may have been busy.
    silent_until: Option<Instant>,
    /// Bytes that it had printed before its end and that have not been read, of both streams.
    unread: Unread,
}

/// Bytes that are left in the pipes.
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
                .envs(command.run.map(|run| (mark::VARIABLE, Mark::of(run).to_string())))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        set_apart(&mut wrap).wrap(KillOnDrop);
        let refused = |error: io::Error| {
            let obstacle = Obstacle::of(&program, &command.workdir, &error);
            SpawnError::Refused { program: program.clone(), obstacle }
        };
        let mut group = wrap.spawn().map_err(refused)?;
        let ending = Ending::of(group.id()).map_err(refused)?;
        let (input, stdout, stderr) = (Input::of(group.stdin().take()), group.stdout().take(), group.stderr().take());
        if let Some(stdout) = &stdout {
            pipe::enlarge(stdout);
        }
        let Command { run, grace, pipe_silence, .. } = command;
        let birth = run.and(group.id()).and_then(Birth::of);
        Ok(Self {
            program,
            group,
            ending,
            input,
            stdout,
            stderr,
            most_waiting: usize::MAX,
            exited: None,
            unheard: false,
            killed: false,
            run,
            birth,
            grace,
            pipe_silence,
        })
    }

    /// Puts this into the queue for standard input. It is written while signs are waited for.
    pub fn write(&mut self, input: impl Into<Bytes>) {
        self.input.push(input.into());
    }

    /// Closes standard input once all that is queued is written.
    pub fn close_input(&mut self) {
        self.input.close();
    }

    /// From here on, output is held back while more than `most` bytes wait to be written, besides those that wait now: a
    /// process that does not read what it is answered is not asked for more.
    pub fn limit_input(&mut self, most: u64) {
        self.most_waiting = self.input.waiting().saturating_add(usize::try_from(most).unwrap_or(usize::MAX));
    }

    /// What of its file, as it is now, stands in the way of a program, for one that ended as a launcher does which cannot
    /// start it.
    pub fn obstacle(&self) -> Option<SpawnError> {
        let obstacle = Obstacle::in_file(&self.program)?;
        Some(SpawnError::Refused { program: self.program.clone(), obstacle })
    }

    /// Whether its output is held back, since it does not read.
    pub fn is_held_back(&self) -> bool {
        self.exited.is_none() && !self.unheard && self.input.waiting() > self.most_waiting
    }

    /// The next sign of life; [`Sign::Exited`] is the last and stays. May be dropped and called again at any time.
    pub async fn next(&mut self) -> Sign {
        loop {
            if let Some(exit) = self.exited
                && self.stdout.is_none()
                && self.stderr.is_none()
            {
                return Sign::Exited(exit.status);
            }
            let (heard, deaf_from) = (!self.is_held_back(), self.deaf_from());
            tokio::select! {
                read = read_some(&mut self.stdout), if heard => match read {
                    Some(bytes) => return self.output(StreamName::Stdout, bytes),
                    None => self.stdout = None,
                },
                read = read_some(&mut self.stderr), if heard => match read {
                    Some(bytes) => return self.output(StreamName::Stderr, bytes),
                    None => self.stderr = None,
                },
                () = self.input.write_some() => {}
                status = self.ending.wait(), if self.exited.is_none() => self.has_exited(status),
                () = sleep_until(deaf_from.unwrap_or_else(Instant::now)), if deaf_from.is_some() => {
                    (self.stdout, self.stderr) = (None, None);
                }
            }
        }
    }

    fn output(&mut self, source: StreamName, bytes: Bytes) -> Sign {
        if let Some(exit) = &mut self.exited {
            exit.silent_until = None;
            let unread = match source {
                StreamName::Stdout => &mut exit.unread.stdout,
                StreamName::Stderr => &mut exit.unread.stderr,
            };
            *unread = unread.saturating_sub(bytes.len() as u64);
        }
        Sign::Output(source, bytes)
    }

    fn has_exited(&mut self, status: ExitStatus) {
        if self.unheard {
            (self.stdout, self.stderr) = (None, None);
        }
        let stdout = self.stdout.as_ref().map_or(0, |pipe| ioctl_fionread(pipe).unwrap_or(0));
        let stderr = self.stderr.as_ref().map_or(0, |pipe| ioctl_fionread(pipe).unwrap_or(0));
        let unread = Unread { stdout, stderr };
        self.exited = Some(Exit { status, until: later(self.grace), silent_until: None, unread });
    }

    /// From when on its streams are not listened to any more. What it has printed itself is read in any case.
    fn deaf_from(&mut self) -> Option<Instant> {
        let exit = self.exited.as_mut()?;
        let is_left = |pipe: bool, bytes: u64| pipe && bytes > 0;
        if is_left(self.stdout.is_some(), exit.unread.stdout) || is_left(self.stderr.is_some(), exit.unread.stderr) {
            return None;
        }
        let silent_until = *exit.silent_until.get_or_insert_with(|| later(self.pipe_silence));
        Some(silent_until.min(exit.until))
    }

    /// Gives the process half of the grace time to end by itself, no longer listening to what it says; then asks it to
    /// end, and kills it and all it started when the grace time is over. Gives how it ended.
    pub async fn settle(mut self) -> ExitStatus {
        self.close_input();
        let by_itself = self.grace / 2;
        if !self.ends_within(by_itself).await {
            self.terminate(self.grace - by_itself).await;
        }
        self.kill_group().await
    }

    /// Ends the process and all it started: asks first, and insists after the grace time. Gives how it ended.
    pub async fn stop(mut self) -> ExitStatus {
        self.terminate(self.grace).await;
        self.kill_group().await
    }

    async fn terminate(&mut self, patience: Duration) {
        const SIGTERM: i32 = 15;
        if self.exited.is_none() && self.group.signal(SIGTERM).is_ok() {
            self.ends_within(patience).await;
        }
    }

    /// Waits for the end for so long. What is still said is lost.
    async fn ends_within(&mut self, patience: Duration) -> bool {
        self.unheard = true;
        let ended = async { while !matches!(self.next().await, Sign::Exited(_)) {} };
        timeout(patience, ended).await.is_ok()
    }

    /// Kills what is left of the group, the leader's descendants too, and reaps the leader.
    async fn kill_group(&mut self) -> ExitStatus {
        // An error means that nothing is left.
        let _nothing_left = self.group.start_kill();
        let status = match self.exited {
            Some(exit) => exit.status,
            None => self.ending.wait().await,
        };
        self.killed = true;
        if let Err(error) = self.group.wait().await {
            tracing::warn!(%error, "cannot wait for a process that was killed");
        }
        self.kill_strays().await;
        status
    }

    /// Kills those that have left the group, as a daemon does.
    async fn kill_strays(&mut self) {
        let Some(kill) = self.strays() else { return };
        // All processes of the machine are looked at, which takes milliseconds.
        match tokio::task::spawn_blocking(kill).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "processes that the CLI had detached were killed"),
            Err(error) => tracing::warn!(%error, "cannot look for what the CLI left running"),
        }
        self.run = None;
    }

    /// What kills them and says how many there were.
    fn strays(&self) -> Option<impl FnOnce() -> usize + Send + use<>> {
        let (run, since) = (self.run?, self.birth);
        Some(move || orphans::kill_rest_of(run, since))
    }
}

impl Drop for Child {
    /// For a process that is dropped rather than ended, as when nobody waits for its end any more, or the runtime goes
    /// down.
    fn drop(&mut self) {
        if !self.killed {
            let _nothing_left = self.group.start_kill();
        }
        let ended_by_itself = self.exited.is_some() && !self.unheard;
        if !ended_by_itself && let (Some(kill), Ok(runtime)) = (self.strays(), Handle::try_current()) {
            runtime.spawn_blocking(kill);
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
