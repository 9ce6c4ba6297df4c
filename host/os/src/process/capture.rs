//! Runs a short command to its end and captures its output.

use std::borrow::Cow;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::time::Duration;

use agentbay_domain::{ExitStatus, StreamName};
use bytes::Bytes;
use tokio::time::timeout;

use super::child::{Child, ChildEvent};
use super::command::Command;
use super::error::SpawnError;

/// How long a killed process may take to exit. A process that waits for a dead disk never exits, so the wait is limited.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// Exit status and output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, undecodable bytes replaced.
    pub stderr: String,
}

impl Captured {
    /// Its standard output, undecodable bytes replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }
}

/// Runs a command to its end with `input` on its standard input, and keeps at most `max` bytes of each output stream.
///
/// # Errors
/// It cannot be started.
pub async fn capture(command: Command, input: impl Into<Bytes>, max: usize) -> Result<Captured, SpawnError> {
    let captured = capture_until(command, input, max, pending::<Infallible>()).await?;
    captured.map_err(|never| match never {})
}

/// The same, but if `end` completes first, the command and all its descendants are ended and the result of `end` is the
/// inner error.
///
/// # Errors
/// It cannot be started.
pub async fn capture_until<E>(
    command: Command,
    input: impl Into<Bytes>,
    max: usize,
    end: impl Future<Output = E>,
) -> Result<Result<Captured, E>, SpawnError> {
    let stop_limit = command.grace.saturating_add(KILL_WAIT);
    let mut child = Child::spawn(command)?;
    child.write(input);
    child.close_input();
    let reason = tokio::select! {
        captured = collect(&mut child, max) => return Ok(Ok(captured)),
        reason = end => reason,
    };
    if timeout(stop_limit, child.stop()).await.is_err() {
        tracing::warn!("a killed command has not exited: it may wait for a disk or a network file system");
    }
    Ok(Err(reason))
}

async fn collect(child: &mut Child, max: usize) -> Captured {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match child.next().await {
            ChildEvent::Output(StreamName::Stdout, bytes) => keep(&mut stdout, &bytes, max),
            ChildEvent::Output(StreamName::Stderr, bytes) => keep(&mut stderr, &bytes, max),
            ChildEvent::Exited(status) => {
                let stderr = String::from_utf8_lossy(&stderr).into_owned();
                return Captured { status, stdout, stderr };
            }
        }
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8], max: usize) {
    let room = max.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}
