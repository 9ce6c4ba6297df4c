//! The first process of a container (PID 1). Every process that loses its parent becomes its child, and stays as a zombie
//! unless it is reaped. So the first process starts the program once more, and only reaps children and forwards signals.

use std::io;
use std::process::ExitCode;

use process_wrap::std::CommandWrap;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use tokio::select;
use tokio::signal::unix::{SignalKind, signal};

use super::program::current_exe;

/// Whether this process is the first one.
pub fn is_first() -> bool {
    std::process::id() == 1
}

/// Runs the program with the same arguments as a child until the child ends. Returns its exit code.
///
/// # Errors
/// It cannot be started, or signals cannot be received.
pub async fn run() -> io::Result<ExitCode> {
    // Before the child starts: no SIGCHLD may be missed.
    let mut children = signal(SignalKind::child())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let wrap = CommandWrap::with_new(current_exe()?.path(), |process| {
        process.args(std::env::args_os().skip(1));
    });
    let program = { wrap }.spawn()?;
    let pid = program.id().try_into().ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    loop {
        let forwarded = select! {
            _ = children.recv() => match reap(pid)? {
                Some(code) => return Ok(code),
                None => continue,
            },
            _ = hangup.recv() => Signal::HUP,
            _ = interrupt.recv() => Signal::INT,
            _ = terminate.recv() => Signal::TERM,
        };
        // It may have ended at this very moment; the next SIGCHLD reports that.
        let _ = kill_process(pid, forwarded);
    }
}

/// Reaps all children that have ended. Returns the exit code of the program if it is one of them.
fn reap(program: Pid) -> io::Result<Option<ExitCode>> {
    let mut ended = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == program => ended = Some(exit_code(status)),
            Ok(Some(_)) => {}
            Ok(None) | Err(rustix::io::Errno::CHILD) => return Ok(ended),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The exit code as a shell reports it.
fn exit_code(status: WaitStatus) -> ExitCode {
    let code = status.exit_status().or_else(|| Some(128 + status.terminating_signal()?));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
