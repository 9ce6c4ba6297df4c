//! A short command run to its end, with what it said.

use std::borrow::Cow;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::time::Duration;

use agentbay_domain::{ExitStatus, StreamName};
use bytes::Bytes;
use tokio::time::timeout;

use super::child::{Child, Sign};
use super::command::Command;
use super::error::SpawnError;

/// How long a killed process may take to be gone. One that waits for a dead disk never is, and nobody waits for it.
const GONE: Duration = Duration::from_secs(2);

/// How a command ended and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// How it ended.
    pub status: ExitStatus,
    /// What it said on standard output.
    pub stdout: Vec<u8>,
    /// What it said on standard error, undecodable bytes replaced.
    pub stderr: String,
}

impl Captured {
    /// What it said on standard output, undecodable bytes replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }
}

/// Runs a command to its end with `input` on its standard input, and keeps `most` bytes of what it says on each stream.
///
/// # Errors
/// It cannot be started.
pub async fn capture(command: Command, input: impl Into<Bytes>, most: usize) -> Result<Captured, SpawnError> {
    let captured = capture_until(command, input, most, pending::<Infallible>()).await?;
    captured.map_err(|never| match never {})
}

/// The same, but when `end` comes first, the command and all it started are ended, and the inner error says why.
///
/// # Errors
/// It cannot be started.
pub async fn capture_until<E>(
    command: Command,
    input: impl Into<Bytes>,
    most: usize,
    end: impl Future<Output = E>,
) -> Result<Result<Captured, E>, SpawnError> {
    let patience = command.grace.saturating_add(GONE);
    let mut child = Child::spawn(command)?;
    child.write(input);
    child.close_input();
    let reason = tokio::select! {
        captured = listen(&mut child, most) => return Ok(Ok(captured)),
        reason = end => reason,
    };
    if timeout(patience, child.stop()).await.is_err() {
        tracing::warn!("a command that was killed is still there: it may wait for a disk or a network file system");
    }
    Ok(Err(reason))
}

async fn listen(child: &mut Child, most: usize) -> Captured {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match child.next().await {
            Sign::Output(StreamName::Stdout, bytes) => keep(&mut stdout, &bytes, most),
            Sign::Output(StreamName::Stderr, bytes) => keep(&mut stderr, &bytes, most),
            Sign::Exited(status) => {
                let stderr = String::from_utf8_lossy(&stderr).into_owned();
                return Captured { status, stdout, stderr };
            }
        }
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8], most: usize) {
    let room = most.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}
